// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text
['class path': 1, 'module path': 2].each { path, times -> // jlink's image runs on the module path, too
    assert log.count("received \"hello, ferrule\" on the ${path}") == times : "not ${times} messages arrived on the ${path}"
}

['module path', 'jshell', 'image'].each { where ->
    assert log.contains("${where}: sm is available") : "sm does not work in: ${where}"
    ['sendrecv', 'magicring'].each { scheme -> // there may be no device, or no library
        def line = log.readLines().find { it.contains("${where}: ${scheme} is ") }
        assert line : "${scheme} is missing in: ${where}"
        assert !line.contains('native-access') : line
    }
}

// The BOM must manage only Ferrule in the build that imports it.
def boms = []
new File(localRepositoryPath, 'dev/ferrule/ferrule-bom').eachFileRecurse { if (it.name.endsWith('.pom')) boms << it }
assert boms.size() == 1
def bom = new groovy.xml.XmlSlurper().parse(boms[0])
assert bom.parent.isEmpty() : 'the BOM has a parent, and so imports its dependency management as well'
assert bom.dependencyManagement.dependencies.dependency.every { it.groupId.text() == 'dev.ferrule' }
