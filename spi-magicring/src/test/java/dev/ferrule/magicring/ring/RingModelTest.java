// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Drives both ends of a ring by random steps, and compares them with lists of messages. */
class RingModelTest {

  private static final int PAGE = 4096;
  private static final int STEPS = 20_000;

  @Property(tries = 250)
  void shouldBehaveLikeAListOfMessagesInAnyOrder(
      @ForAll Mapping mapping,
      @ForAll Acknowledge how,
      @ForAll @IntRange(min = 1, max = 7) int pages,
      @ForAll @IntRange(min = 1, max = 64) int window,
      @ForAll long seed) {
    Run run = new Run(pages * PAGE, mapping, how, window, new Random(seed));
    for (int step = 0; step < STEPS; step++) {
      run.step();
    }
    run.finish();
  }

  /** A sent message. */
  private static final class Message {
    final long number;
    final int length;
    final long offset;
    final long end;
    int slot;
    boolean freed;

    Message(long number, int length, long offset, long end) {
      this.number = number;
      this.length = length;
      this.offset = offset;
      this.end = end;
    }
  }

  private record Ack(long messages, long bytes) {}

  /** Both ends, the messages in flight between them, and the expected state. */
  private static final class Run {
    final int size;
    final Mapping mapping;
    final Acknowledge how;
    final int window;
    final Random random;
    final int longest;
    final RingSpace space;
    final RingMessages messages;
    final RingContent content;

    final List<Integer> claims = new ArrayList<>();
    final ArrayDeque<Message> inFlight = new ArrayDeque<>();
    final ArrayDeque<Ack> acks = new ArrayDeque<>();
    final ArrayDeque<Message> unacknowledged = new ArrayDeque<>(); // arrived, not yet acknowledged
    final List<Message> held = new ArrayList<>();
    long sent;
    long tail;
    long payload;
    Ack acked = new Ack(0, 0);
    int busy; // selects the kind of steps that is more frequent for a while

    Run(int size, Mapping mapping, Acknowledge how, int window, Random random) {
      this.size = size;
      this.how = how;
      this.mapping = mapping;
      this.window = window;
      this.random = random;
      int most = mapping == Mapping.MAGIC ? size : size / 2;
      this.longest = random.nextBoolean() ? most : random.nextInt(most + 1);
      this.space = new RingSpace(size, mapping, window);
      this.messages = new RingMessages(size, mapping, window, longest, how);
      this.content = new RingContent(size, mapping);
      assertThat(space.longest()).isEqualTo(most);
    }

    void step() {
      if (random.nextInt(500) == 0) {
        busy = random.nextInt(8);
      }
      switch (random.nextInt(3) == 0 ? busy : random.nextInt(8)) {
        case 0, 1 -> claim(randomLength());
        case 2 -> sendOrAbort();
        case 3, 4 -> deliver();
        case 5, 6 -> freeOne();
        default -> deliverAck();
      }
    }

    int randomLength() {
      return switch (random.nextInt(8)) {
        case 0 -> 0;
        case 1, 2, 3 -> random.nextInt(Math.min(longest, 64) + 1);
        case 4, 5 -> random.nextInt(longest / 8 + 1);
        case 6 -> longest - random.nextInt(Math.min(longest, 9) + 1);
        default -> random.nextInt(longest + 1);
      };
    }

    static long rounded(int length) {
      return Math.max(1, (length + 7) / 8) * 8;
    }

    long worst(int length) {
      return mapping == Mapping.MAGIC ? rounded(length) : 2 * rounded(length) - 8;
    }

    long padding(int length) {
      long left = size - tail % size;
      return mapping == Mapping.PLAIN && rounded(length) > left ? left : 0;
    }

    void claim(int length) {
      long reserved = claims.stream().mapToLong(this::worst).sum();
      long need = reserved == 0 ? padding(length) + rounded(length) : reserved + worst(length);
      boolean fits =
          claims.size() + sent - acked.messages < window && need <= size - (tail - acked.bytes);

      assertThat(space.tryReserve(length)).isEqualTo(fits);

      if (fits) {
        claims.add(length);
      } else if (claims.isEmpty() && inFlight.isEmpty() && acks.isEmpty()) {
        assertThat(messages.isAckOwed()).as("the sender waits for an ack").isFalse();
      }
    }

    void sendOrAbort() {
      if (claims.isEmpty()) {
        return;
      }
      int reserved = claims.remove(random.nextInt(claims.size()));
      if (random.nextInt(4) == 0) {
        space.unreserve(reserved, 1);
        return;
      }
      int length = random.nextBoolean() ? reserved : random.nextInt(reserved + 1);
      tail += padding(length);
      long offset = tail % size;
      tail += rounded(length);
      payload += length;
      Message message = new Message(sent, length, offset, tail);
      sent++;

      assertThat(space.place(reserved, length)).isEqualTo(offset);

      content.write(offset, length, message.number); // earlier than a device would
      inFlight.add(message);
      assertThat(space.ringBytes()).isEqualTo(tail);
      assertThat(space.payloadBytes()).isEqualTo(payload);
    }

    void deliver() {
      if (inFlight.isEmpty()) {
        return;
      }
      Message message = inFlight.remove();
      int slot = messages.arrived(message.length);
      assertThat(slot).as(messages.objection()).isNotNegative();
      message.slot = slot;
      assertThat(messages.offset(slot)).isEqualTo(message.offset);
      assertThat(messages.take()).isEqualTo((long) slot << Integer.SIZE | message.length);
      content.check(message.offset, message.length, message.number);
      held.add(message);
      unacknowledged.add(message);
      acknowledgeIfDue();
    }

    void freeOne() {
      if (held.isEmpty()) {
        return;
      }
      Message message = held.remove(random.nextInt(random.nextBoolean() ? 1 : held.size()));
      content.check(message.offset, message.length, message.number);
      messages.free(message.slot);
      message.freed = true;
      acknowledgeIfDue();
    }

    void acknowledgeIfDue() {
      Ack last = lastAck();
      Message lastFreed = null;
      long owed = 0;
      for (Message message : unacknowledged) {
        if (!message.freed) {
          break;
        }
        owed++;
        lastFreed = message;
      }
      Ack freed = lastFreed == null ? last : new Ack(last.messages + owed, lastFreed.end);
      long arrivedBytes = unacknowledged.isEmpty() ? last.bytes : unacknowledged.getLast().end;
      boolean starving =
          unacknowledged.size() >= window || size - (arrivedBytes - last.bytes) < worst(longest);
      boolean due =
          owed > 0
              && (how == Acknowledge.EACH
                  || owed * 4 >= window
                  || (freed.bytes - last.bytes) * 4 >= size
                  || starving);

      assertThat(messages.freedMessages()).isEqualTo(freed.messages);
      assertThat(messages.freedBytes()).isEqualTo(freed.bytes);
      assertThat(messages.heldMessages()).isEqualTo(held.size());
      assertThat(messages.freeMessages())
          .isEqualTo((int) (window - (unacknowledged.size() - owed)));
      assertThat(messages.freeBytes()).isEqualTo(size - (arrivedBytes - freed.bytes));
      assertThat(messages.isAckOwed()).isEqualTo(owed > 0);
      assertThat(messages.isAckDue()).isEqualTo(due);

      if (due || random.nextInt(50) == 0) {
        assertThat(messages.acknowledge()).isEqualTo(owed > 0);
        assertThat(lastAck()).isEqualTo(freed);
        for (long i = 0; i < owed; i++) {
          unacknowledged.remove();
        }
        if (owed > 0) {
          acks.add(freed);
        }
        assertThat(acks.size()).as("acknowledgments in flight").isLessThanOrEqualTo(window);
      }
    }

    Ack lastAck() {
      return new Ack(messages.acknowledgedMessages(), messages.acknowledgedBytes());
    }

    void deliverAck() {
      if (acks.isEmpty()) {
        return;
      }
      Ack ack = acks.remove();
      assertThat(space.takeAck(ack.messages, ack.bytes)).isNull();
      acked = ack;
      assertThat(space.isAllBack()).isEqualTo(ack.messages == sent);
    }

    void finish() {
      claims.forEach(length -> space.unreserve(length, 1));
      claims.clear();
      while (!inFlight.isEmpty()) {
        deliver();
      }
      while (!held.isEmpty()) {
        freeOne();
      }
      if (messages.acknowledge()) {
        acks.add(lastAck());
      }
      unacknowledged.clear();
      while (!acks.isEmpty()) {
        deliverAck();
      }
      assertThat(space.isAllBack()).isTrue();
      assertThat(messages.heldMessages()).isZero();
      assertThat(messages.freeBytes()).isEqualTo(size);
      claim(longest);
      assertThat(claims).as("space for the longest message").hasSize(1);
      space.unreserve(longest, 1);
      for (int i = 0; i < window; i++) {
        assertThat(space.tryReserve(0)).isTrue();
      }
      assertThat(space.tryReserve(0)).isFalse();
    }
  }
}
