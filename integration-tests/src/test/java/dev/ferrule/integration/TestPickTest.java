// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TestPickTest {

  @ParameterizedTest
  @CsvSource({
    "AContractTest$Wait#works, true",
    "AContractTest\\$Wait#works, true",
    "AContractTest.Wait#works, true",
    "Contract.*works$, true",
    "Wait|Close, true",
    "Wait$, false",
    "AContractTest$Close, false"
  })
  void aDollarBeforeALetterIsPartOfAName(String expression, boolean found) {
    assertThat(TestPick.matching(expression).test("AContractTest$Wait#works")).isEqualTo(found);
  }
}
