// SPDX-License-Identifier: Apache-2.0
def report = { name -> new groovy.xml.XmlSlurper().parse(
        new File(basedir, "target/surefire-reports/TEST-repeated.${name}.xml")) }
def once = report('FailsOnceTest-once').testcase.find { it.@name == 'failsOnce' }
assert once.flakyFailure.size() == 1 && once.failure.isEmpty() : 'a test that passes when repeated is flaky'
assert once.flakyFailure.@message.text().startsWith('the first run')
def always = report('FailsAlwaysTest-always').testcase
assert always.failure.size() == 1 && always.rerunFailure.size() == 2 : 'a test that fails is repeated twice'
assert new File(basedir, 'build.log').text.contains('The forked VM terminated without properly saying goodbye')
