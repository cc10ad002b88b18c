// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the number of receives that a connection posts, as specified in docs/magicring.md. */
class RingReceivesTest {

  /** For each message and each acknowledgment, a want, a goodbye, and a batch of 16. */
  @ParameterizedTest
  @CsvSource({"1, 20", "2, 22", "16, 50", "256, 530", "4096, 8210"})
  void bothDirectionsNeedReceivesForMessagesAndAcknowledgments(int window, int expected) {
    assertThat(RingReceives.countFor(window, false)).isEqualTo(expected);
  }

  /** A side receives either messages or acknowledgments. */
  @ParameterizedTest
  @CsvSource({"1, 19", "2, 20", "16, 34", "256, 274", "4096, 4114"})
  void oneDirectionNeedsReceivesForMessagesOrAcknowledgments(int window, int expected) {
    assertThat(RingReceives.countFor(window, true)).isEqualTo(expected);
  }
}
