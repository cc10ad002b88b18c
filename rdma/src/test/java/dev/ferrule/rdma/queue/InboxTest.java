// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The queue of messages for the program. */
class InboxTest {

  private static final int CAPACITY = 4;

  private final Inbox inbox = new Inbox(CAPACITY);

  private void add(int number, int length) {
    assertThat(inbox.add(number, length)).isTrue();
  }

  private static void expect(Inbox inbox, int number, int length) {
    assertThat(inbox.hasNext()).isTrue();
    assertThat(inbox.nextNumber()).isEqualTo(number);
    assertThat(inbox.nextLength()).isEqualTo(length);
    inbox.advance();
  }

  @Test
  void aNewInboxIsEmpty() {
    assertThat(inbox.hasNext()).isFalse();
  }

  @Test
  void messagesAreTakenInOrderWithNumberAndLength() {
    add(0, 0);
    add(Integer.MAX_VALUE, Integer.MAX_VALUE);
    add(2, 1);
    expect(inbox, 0, 0);
    expect(inbox, Integer.MAX_VALUE, Integer.MAX_VALUE);
    expect(inbox, 2, 1);
    assertThat(inbox.hasNext()).isFalse();
  }

  @Test
  void theOrderHoldsWhenTheRingWrapsAround() {
    for (int i = 0; i < 10 * CAPACITY + 1; i++) {
      add(i, 2 * i);
      add(i + 1, 3 * i);
      expect(inbox, i, 2 * i);
      expect(inbox, i + 1, 3 * i);
    }
    assertThat(inbox.hasNext()).isFalse();
  }

  @Test
  void takenMessagesAndBytesAreCounted() {
    add(0, 100);
    add(1, 0);
    add(2, 7);
    assertThat(inbox.messagesTaken()).isZero();
    assertThat(inbox.bytesTaken()).isZero();
    expect(inbox, 0, 100);
    expect(inbox, 1, 0);
    assertThat(inbox.messagesTaken()).isEqualTo(2);
    assertThat(inbox.bytesTaken()).isEqualTo(100);
    expect(inbox, 2, 7);
    assertThat(inbox.bytesTaken()).isEqualTo(107);
  }

  @Test
  void anInboxHoldsItsCapacity() {
    for (int capacity = 1; capacity < 70; capacity++) {
      Inbox full = new Inbox(capacity);
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
  void addingToAFullInboxFails() {
    for (int i = 0; i < CAPACITY; i++) {
      add(i, 0);
    }
    assertThat(inbox.add(CAPACITY, 0)).isFalse();
    expect(inbox, 0, 0);
    add(CAPACITY, 0);
    for (int i = 1; i <= CAPACITY; i++) {
      expect(inbox, i, 0);
    }
  }
}
