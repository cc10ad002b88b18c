// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SenderSequencesTest {

  private final SenderSequences sequences = new SenderSequences();

  private void accept(int sender, long... numbers) {
    for (long number : numbers) {
      sequences.accept(SenderSequences.value(sender, number));
    }
  }

  @Test
  void messagesOfSeveralThreadsMayInterleave() {
    accept(0, 0, 1);
    accept(7, 0);
    accept(0, 2);
    accept(7, 1);
    assertThatCode(sequences::check).doesNotThrowAnyException();
  }

  @Test
  void theFirstGapIsReported() {
    accept(1, 0);
    accept(2, 0, 2, 5);
    assertThatThrownBy(sequences::check)
        .hasMessageContaining("message 2 of thread 2 arrived instead of message 1 of thread 2");
  }

  @Test
  void aDuplicatedMessageIsReported() {
    accept(3, 0, 0);
    assertThatThrownBy(sequences::check).hasMessageContaining("duplicated");
  }

  @Test
  void aMessageOfAnUnknownThreadIsReported() {
    accept(SenderSequences.MOST_SENDERS, 0);
    assertThatThrownBy(sequences::check).hasMessageContaining("message 0 of thread 8 arrived");
  }

  @Test
  void anotherMeasurementStartsAnew() {
    accept(0, 0, 5);
    sequences.restart();
    accept(0, 0, 1);
    assertThatCode(sequences::check).doesNotThrowAnyException();
  }
}
