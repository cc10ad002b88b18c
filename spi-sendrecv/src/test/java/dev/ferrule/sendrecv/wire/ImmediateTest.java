// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ImmediateTest {

  @ParameterizedTest
  @ValueSource(ints = {Immediate.MESSAGE, Immediate.GRANT, Immediate.GOODBYE, Immediate.END, 0, 15})
  void theTypeSurvivesARoundTripWithAnyCounts(int type) {
    assertThat(Immediate.type(Immediate.of(type, 0, 0))).isEqualTo(type);
    assertThat(Immediate.type(Immediate.of(type, 0xffff, 0xff))).isEqualTo(type);
    assertThat(Immediate.type(Immediate.of(type, -1, -1))).isEqualTo(type);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 0x7fff, 0x8000, 0xfff0, 0xffff, 0x1_0000, 0x1_2345_6789L})
  void countsWrapAround(long known) {
    for (int more : new int[] {0, 1, 31, 255, 256, 0x7fff, 0xffff}) {
      int immediate = Immediate.of(Immediate.MESSAGE, known + more, known + more);

      assertThat(Immediate.newlyGranted(immediate, known)).isEqualTo(more);
      assertThat(Immediate.newControlsTaken(immediate, known)).isEqualTo(more & 0xff);
    }
  }

  @Test
  void theCountsDoNotOverlap() {
    int immediate = Immediate.of(Immediate.GRANT, 0xabcd, 0x12);

    assertThat(immediate).isEqualTo(0x2012_abcd);
  }
}
