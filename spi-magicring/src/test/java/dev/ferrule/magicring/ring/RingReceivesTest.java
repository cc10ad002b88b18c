// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the number of receives that a connection posts, as specified in docs/protocol-magicring.md.
 */
class RingReceivesTest {

  /**
   * One for each message and each acknowledgment, a want, the end and a goodbye, and a batch of 16.
   */
  @ParameterizedTest
  @CsvSource({"1, 21", "2, 23", "16, 51", "256, 531", "4096, 8211"})
  void bothDirectionsNeedReceivesForMessagesAndAcknowledgments(int window, int expected) {
    assertThat(RingReceives.countFor(window, false)).isEqualTo(expected);
  }

  /** A side receives either messages or acknowledgments. */
  @ParameterizedTest
  @CsvSource({"1, 20", "2, 21", "16, 35", "256, 275", "4096, 4115"})
  void oneDirectionNeedsReceivesForMessagesOrAcknowledgments(int window, int expected) {
    assertThat(RingReceives.countFor(window, true)).isEqualTo(expected);
  }
}
