// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text
['class', 'module'].each { path ->
    assert log.contains("received \"hello, ferrule\" on the ${path} path") : "no message arrived on the ${path} path"
}

// The BOM must manage only Ferrule in the build that imports it.
def boms = []
new File(localRepositoryPath, 'dev/ferrule/ferrule-bom').eachFileRecurse { if (it.name.endsWith('.pom')) boms << it }
assert boms.size() == 1
def bom = new groovy.xml.XmlSlurper().parse(boms[0])
assert bom.parent.isEmpty() : 'the BOM has a parent, whose dependency management comes with it'
assert bom.dependencyManagement.dependencies.dependency.every { it.groupId.text() == 'dev.ferrule' }
