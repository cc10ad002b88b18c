// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The queue of messages for the program. */
class MessageQueueTest {

  private static final int CAPACITY = 4;

  private final MessageQueue queue = new MessageQueue(CAPACITY);

  private void add(int number, int length) {
    assertThat(queue.add(number, length)).isTrue();
  }

  private static void expect(MessageQueue queue, int number, int length) {
    assertThat(queue.hasNext()).isTrue();
    long message = queue.take();
    assertThat(MessageQueue.number(message)).isEqualTo(number);
    assertThat(MessageQueue.length(message)).isEqualTo(length);
  }

  @Test
  void aNewQueueIsEmpty() {
    assertThat(queue.hasNext()).isFalse();
  }

  @Test
  void messagesAreTakenInOrderWithNumberAndLength() {
    add(0, 0);
    add(Integer.MAX_VALUE, Integer.MAX_VALUE);
    add(2, 1);
    expect(queue, 0, 0);
    expect(queue, Integer.MAX_VALUE, Integer.MAX_VALUE);
    expect(queue, 2, 1);
    assertThat(queue.hasNext()).isFalse();
  }

  @Test
  void theOrderHoldsWhenTheRingWrapsAround() {
    for (int i = 0; i < 10 * CAPACITY + 1; i++) {
      add(i, 2 * i);
      add(i + 1, 3 * i);
      expect(queue, i, 2 * i);
      expect(queue, i + 1, 3 * i);
    }
    assertThat(queue.hasNext()).isFalse();
  }

  @Test
  void takenMessagesAndBytesAreCounted() {
    add(0, 100);
    add(1, 0);
    add(2, 7);
    assertThat(queue.messagesTaken()).isZero();
    assertThat(queue.bytesTaken()).isZero();
    expect(queue, 0, 100);
    expect(queue, 1, 0);
    assertThat(queue.messagesTaken()).isEqualTo(2);
    assertThat(queue.bytesTaken()).isEqualTo(100);
    expect(queue, 2, 7);
    assertThat(queue.bytesTaken()).isEqualTo(107);
  }

  @Test
  void aQueueHoldsItsCapacity() {
    for (int capacity = 1; capacity < 70; capacity++) {
      MessageQueue full = new MessageQueue(capacity);
      for (int i = 0; i < capacity; i++) {
        assertThat(full.add(i, i)).isTrue();
      }
      for (int i = 0; i < capacity; i++) {
        expect(full, i, i);
      }
      assertThat(full.hasNext()).isFalse();
    }
  }

  @Test
  void addingToAFullQueueFails() {
    for (int i = 0; i < CAPACITY; i++) {
      add(i, 0);
    }
    assertThat(queue.add(CAPACITY, 0)).isFalse();
    expect(queue, 0, 0);
    add(CAPACITY, 0);
    for (int i = 1; i <= CAPACITY; i++) {
      expect(queue, i, 0);
    }
  }
}
