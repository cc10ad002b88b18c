// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NumbersTest {

  @Test
  void numbersHaveThreeDigitsAndAPrefix() {
    assertThat(Numbers.scaled(0)).isEqualTo("0");
    assertThat(Numbers.scaled(999.4)).isEqualTo("999");
    assertThat(Numbers.scaled(999.6)).isEqualTo("1 k");
    assertThat(Numbers.scaled(1_234_567)).isEqualTo("1.23 M");
    assertThat(Numbers.bytes(65536)).isEqualTo("64 KiB");
    assertThat(Numbers.bytes(1000)).isEqualTo("1000 B");
    assertThat(Numbers.nanos(1900)).isEqualTo("1.9 µs");
    assertThat(Numbers.nanos(0.0803)).isEqualTo("0.0803 ns");
    assertThat(Numbers.plain(12345678)).isEqualTo("12300000");
    assertThat(Numbers.plain(Double.NaN)).isEqualTo("–");
    assertThat(Numbers.error(1.12)).isEqualTo("+12 %");
    assertThat(Numbers.error(0.5)).isEqualTo("-50 %");
    assertThat(Numbers.error(116.48)).isEqualTo("116 times");
    assertThat(Numbers.error(0.01)).isEqualTo("0.01 times");
    assertThat(Numbers.rate(1.25e6)).isEqualTo("1.25 M/s");
    assertThat(Numbers.byteRate(1.25e9)).isEqualTo("1.25 GB/s");
  }
}
