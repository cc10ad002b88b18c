// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.rdma.queue.MessageQueue;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the receiver's bookkeeping of its ring, and the validation of messages. */
class RingMessagesTest {

  private static final int PAGE = 4096;
  private static final int WINDOW = 8;

  private final RingMessages messages =
      new RingMessages(PAGE, Mapping.MAGIC, WINDOW, 512, Acknowledge.BATCHED);

  private int arrive(int length) {
    int slot = messages.arrived(length);
    assertThat(slot).as(messages.objection()).isNotNegative();
    long message = messages.take();
    assertThat(MessageQueue.number(message)).isEqualTo(slot);
    assertThat(MessageQueue.length(message)).isEqualTo(length);
    return slot;
  }

  private static void arriveAndFree(RingMessages ring, int length) {
    int slot = ring.arrived(length);
    ring.take();
    ring.free(slot);
  }

  private void assertRefused(int length, String objection) {
    assertThat(messages.arrived(length)).isEqualTo(RingMessages.REFUSED);
    assertThat(messages.objection()).startsWith("the peer sent ").contains(objection);
  }

  @Test
  void shouldFindMessagesWhereTheSenderPlacedThem() {
    int first = arrive(5);
    int second = arrive(0);
    int third = arrive(512);

    assertThat(messages.offset(first)).isZero();
    assertThat(messages.offset(second)).isEqualTo(8);
    assertThat(messages.offset(third)).isEqualTo(16);
    assertThat(messages.heldMessages()).isEqualTo(3);
    assertThat(messages.freeBytes()).isEqualTo(PAGE - 528);
    assertThat(messages.freeMessages()).isEqualTo(WINDOW - 3);
  }

  @Test
  void shouldAcknowledgeOnlyMessagesFreedBeforeAnyHeldOne() {
    int first = arrive(8);
    int second = arrive(16);
    int third = arrive(24);
    messages.free(second);

    assertThat(messages.heldMessages()).isEqualTo(2);
    assertThat(messages.freedMessages()).isZero();
    assertThat(messages.isAckOwed()).isFalse();
    assertThat(messages.acknowledge()).isFalse();

    messages.free(first);

    assertThat(messages.freedMessages()).isEqualTo(2);
    assertThat(messages.freedBytes()).isEqualTo(24);
    assertThat(messages.acknowledge()).isTrue();
    assertThat(messages.acknowledgedMessages()).isEqualTo(2);
    assertThat(messages.acknowledgedBytes()).isEqualTo(24);
    assertThat(messages.acknowledge()).as("nothing new to acknowledge").isFalse();

    messages.free(third);

    assertThat(messages.freedBytes()).isEqualTo(48);
    assertThat(messages.heldMessages()).isZero();
  }

  @Test
  void shouldStopTheSenderAlthoughOnlyTheOldestMessageIsHeld() {
    int oldest = arrive(8);
    for (int i = 1; i < WINDOW; i++) {
      messages.free(arrive(8));
    }

    assertThat(messages.heldMessages()).isEqualTo(1);
    assertThat(messages.freeMessages()).isZero();
    assertThat(messages.freeBytes()).isEqualTo(PAGE - WINDOW * 8);
    assertThat(messages.isAckDue()).isFalse();
    messages.free(oldest);
    assertThat(messages.freeMessages()).isEqualTo(WINDOW);
    assertThat(messages.isAckDue()).isTrue();
  }

  @Test
  void anAckIsDueWhenAQuarterOfTheMessagesIsFreed() {
    for (int i = 0; i < WINDOW / 4; i++) {
      assertThat(messages.isAckDue()).isFalse();
      messages.free(arrive(8));
      assertThat(messages.isAckOwed()).isTrue();
    }
    assertThat(messages.isAckDue()).isTrue();
    assertThat(messages.acknowledge()).isTrue();
    assertThat(messages.isAckDue()).isFalse();
    assertThat(messages.isAckOwed()).isFalse();
  }

  @Test
  void anAckCoversManyMessagesIfThereIsSpace() {
    RingMessages wide = new RingMessages(64 * PAGE, Mapping.MAGIC, 64, PAGE, Acknowledge.BATCHED);
    int acks = 0;
    for (int i = 0; i < 6_400; i++) {
      arriveAndFree(wide, 64);
      if (wide.isAckDue() && wide.acknowledge()) {
        acks++;
      }
    }
    assertThat(acks).isEqualTo(6_400 / 16);
  }

  @Test
  void anAckIsDueForEachMessageIfSoChosen() {
    RingMessages wide = new RingMessages(64 * PAGE, Mapping.MAGIC, 64, PAGE, Acknowledge.EACH);
    for (int i = 0; i < 100; i++) {
      int slot = wide.arrived(64);
      wide.take();
      assertThat(wide.isAckDue()).as("nothing is freed").isFalse();
      wide.free(slot);
      assertThat(wide.isAckDue()).isTrue();
      assertThat(wide.acknowledge()).isTrue();
    }
    int held = wide.arrived(64);
    arriveAndFree(wide, 64);
    assertThat(wide.isAckDue()).as("an earlier message is held").isFalse();
    wide.free(held);
    assertThat(wide.isAckDue()).isTrue();
  }

  @Test
  void anAckIsDueWhenAQuarterOfTheBytesIsFreed() {
    RingMessages wide = new RingMessages(PAGE, Mapping.MAGIC, 64, 512, Acknowledge.BATCHED);
    arriveAndFree(wide, 512);
    assertThat(wide.isAckDue()).isFalse();
    arriveAndFree(wide, 504);
    assertThat(wide.isAckDue()).isFalse();
    arriveAndFree(wide, 1);
    assertThat(wide.isAckDue()).isTrue();
  }

  @Test
  void anAckIsDueWhenTheSenderLacksSpaceForTheLongestMessage() {
    RingMessages wide = new RingMessages(PAGE, Mapping.MAGIC, 64, 512, Acknowledge.BATCHED);
    arriveAndFree(wide, 8);
    for (int i = 0; i < 6; i++) {
      wide.arrived(512);
    }
    assertThat(wide.isAckDue()).isFalse();
    wide.arrived(504);
    assertThat(wide.isAckDue()).as("512 bytes are left").isFalse();
    wide.arrived(1);
    assertThat(wide.isAckDue()).as("504 bytes are left").isTrue();
    wide.acknowledge();
    assertThat(wide.isAckDue()).as("nothing is owed").isFalse();
  }

  @Test
  void anAckIsDueWhenTheSenderLacksSpaceForTheLongestMessageAndItsPadding() {
    RingMessages wide = new RingMessages(PAGE, Mapping.PLAIN, 64, 512, Acknowledge.BATCHED);
    arriveAndFree(wide, 8);
    for (int i = 0; i < 5; i++) {
      wide.arrived(512);
    }
    wide.arrived(504);
    assertThat(wide.isAckDue()).as("1024 bytes are left").isFalse();
    wide.arrived(16);
    assertThat(wide.isAckDue()).as("1008 bytes are left, of which 504 may be skipped").isTrue();
  }

  @Test
  void anAckIsDueWhenTheSenderHasUsedTheWindow() {
    messages.free(arrive(0));
    for (int i = 1; i < WINDOW; i++) {
      assertThat(messages.isAckDue()).isFalse();
      arrive(0);
    }
    assertThat(messages.isAckDue()).isTrue();
  }

  /** The sender reports a lack of space once, then waits for an acknowledgment. */
  @Test
  void aWantThatFindsNothingFreedIsAnsweredAtTheNextFree() {
    int first = arrive(8);
    messages.wanted();
    assertThat(messages.isAckDue()).as("nothing is freed").isFalse();
    assertThat(messages.acknowledge()).as("nothing is freed").isFalse();

    messages.free(first);

    assertThat(messages.isAckDue()).isTrue();
    assertThat(messages.acknowledge()).isTrue();
    messages.free(arrive(8));
    assertThat(messages.isAckDue()).as("the want is answered").isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {513, Integer.MAX_VALUE, -1, Integer.MIN_VALUE})
  void shouldRefuseAMessageThatIsTooLong(int length) {
    assertRefused(length, Integer.toUnsignedString(length) + " bytes; the maximum is 512");
    assertThat(arrive(512)).as("nothing has changed").isZero();
  }

  @Test
  void shouldRefuseMoreMessagesThanWereAcknowledged() {
    for (int i = 0; i < WINDOW; i++) {
      messages.free(arrive(1));
    }
    assertRefused(0, "more than 8 unacknowledged messages");
    messages.acknowledge();
    assertThat(messages.offset(arrive(1))).isEqualTo(WINDOW * 8);
  }

  @Test
  void shouldRefuseMoreBytesThanWereAcknowledged() {
    RingMessages whole = new RingMessages(PAGE, Mapping.MAGIC, WINDOW, PAGE, Acknowledge.BATCHED);
    arriveAndFree(whole, PAGE - 8);
    assertThat(whole.arrived(9)).isEqualTo(RingMessages.REFUSED);
    assertThat(whole.objection()).contains("needs 16 bytes of the ring, but 8 are free");
    assertThat(whole.arrived(0)).isEqualTo(1);
    assertThat(whole.arrived(0)).as("the ring is full").isEqualTo(RingMessages.REFUSED);
    whole.acknowledge();
    assertThat(whole.arrived(PAGE - 8)).isEqualTo(2);
  }

  @Test
  void shouldRefuseAMessageWhosePaddingOverlapsAHeldOne() {
    RingMessages plain = new RingMessages(PAGE, Mapping.PLAIN, WINDOW, 2048, Acknowledge.BATCHED);
    plain.arrived(8);
    plain.arrived(2048);
    assertThat(plain.arrived(2048)).isEqualTo(RingMessages.REFUSED);
    assertThat(plain.objection()).contains("needs 4088 bytes of the ring, but 2040 are free");
  }

  @Test
  void shouldNotFreeAMessageTwice() {
    int first = arrive(8);
    int second = arrive(8);
    messages.free(second);
    assertThatThrownBy(() -> messages.free(second)).isInstanceOf(IllegalStateException.class);
    messages.free(first);
    assertThatThrownBy(() -> messages.free(first)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> messages.free(second)).isInstanceOf(IllegalStateException.class);
    assertThat(messages.freedMessages()).isEqualTo(2);
    assertThat(messages.heldMessages()).isZero();
  }

  @Test
  void shouldNotFreeAMessageThatNeverArrived() {
    assertThatThrownBy(() -> messages.free(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("slot 0");
    assertThatThrownBy(() -> messages.free(messages.slots()))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 2049})
  void shouldRejectAMaximumMessageThatDoesNotFitIntoTheRing(int longest) {
    assertThatThrownBy(() -> new RingMessages(PAGE, Mapping.PLAIN, 1, longest, Acknowledge.BATCHED))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Property(tries = 300)
  void shouldNeverUseAPlaceOutsideTheRingOrAHeldOneWhateverThePeerSends(
      @ForAll Mapping mapping,
      @ForAll @IntRange(min = 1, max = 5) int pages,
      @ForAll @IntRange(min = 1, max = 64) int window,
      @ForAll long seed) {
    int size = pages * PAGE;
    Random random = new Random(seed);
    RingMessages victim =
        new RingMessages(size, mapping, window, mapping.longest(size), Acknowledge.BATCHED);
    boolean[] held = new boolean[size];
    boolean[] taken = new boolean[victim.slots()];
    int[] lengths = new int[victim.slots()];
    for (int step = 0; step < 1_000; step++) {
      int slot =
          victim.arrived(random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(size / 2));
      if (slot != RingMessages.REFUSED) {
        assertThat(taken[slot]).isFalse();
        taken[slot] = true;
        lengths[slot] = MessageQueue.length(victim.take());
        mark(victim.offset(slot), lengths[slot], held, true);
      }
      int one = random.nextInt(taken.length);
      if (taken[one]) {
        taken[one] = false;
        mark(victim.offset(one), lengths[one], held, false);
        victim.free(one);
      }
      if (random.nextInt(4) == 0) {
        victim.acknowledge();
      }
    }
  }

  private static void mark(long offset, int length, boolean[] held, boolean value) {
    for (long at = offset; at < offset + length; at++) {
      int index = (int) at % held.length;
      if (held[index] == value) {
        throw new AssertionError("two messages at offset " + index);
      }
      held[index] = value;
    }
  }
}
