// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Drives a ring by random steps and compares it with a queue of byte arrays. */
class RingModelTest {

  /** A message that the consumer still holds; in the ring, if it has no lines. */
  private record Held(byte[] expected, long offset, int line) {}

  /** A claim that was neither sent nor aborted; in place, if it has a message. */
  private record Claim(int line, int length, byte[] inPlace) {}

  private static final byte[] NOT_IN_PLACE = {};

  private final ArrayDeque<byte[]> staged = new ArrayDeque<>();
  private final ArrayDeque<byte[]> published = new ArrayDeque<>();
  private final List<Claim> claims = new ArrayList<>();
  private final List<Held> held = new ArrayList<>();

  @Property(tries = 2_000)
  void shouldBehaveLikeAQueueWhateverTheOrderOfClaimsSendsReceivesAndFrees(
      @ForAll @IntRange(min = 6, max = 13) int ringShift,
      @ForAll @IntRange(min = 64, max = 400) int lines,
      @ForAll long seed) {
    RingLayout layout = new RingLayout(ringShift, lines, lines * RingLayout.LINE / 3 + 252);
    Rings rings = new Rings(layout, true);
    Random random = new Random(seed);
    staged.clear();
    published.clear();
    claims.clear();
    held.clear();
    for (int step = 0; step < 2_000; step++) {
      switch (random.nextInt(8)) {
        case 7 -> stage(rings, random, step);
        case 6 -> send(rings, random, step);
        case 0 -> claim(rings, random);
        case 1 -> sendOrAbort(rings, random, step);
        case 2 -> publish(rings);
        case 3, 4 -> receive(rings, random);
        default -> free(rings, random);
      }
    }
    shouldHaveAllItsRoomAgain(rings);
  }

  private void claim(Rings rings, Random random) {
    int length = randomLength(random, rings.layout);
    byte[] message = new byte[length];
    random.nextBytes(message);
    if (random.nextInt(3) > 0 && rings.claim(message) != RingProducer.NO_OFFSET) {
      claims.add(new Claim(RingProducer.INLINE, length, message));
      return;
    }
    int line = rings.producer.reserve(length);
    if (line != RingProducer.FULL) {
      claims.add(new Claim(line, length, NOT_IN_PLACE));
    }
  }

  private void send(Rings rings, Random random, int step) {
    byte[] message = Rings.message(random.nextInt(3) * random.nextInt(20), step);
    if (rings.producer.trySend(MemorySegment.ofArray(message), 0, message.length)
        != RingProducer.NOT_SENT) {
      assertThat(staged).as("staged messages before a direct send").isEmpty();
      published.add(message);
    }
  }

  /** Stages as many messages as a batch may have, limited by the room. */
  private void stage(Rings rings, Random random, int step) {
    for (int left = 1 << random.nextInt(5); left > 0; left--) {
      byte[] message = Rings.message(random.nextInt(3) * random.nextInt(20), step);
      if (rings.producer.tryStage(MemorySegment.ofArray(message), 0, message.length)) {
        assertThat(claims).as("claims before a direct copy").isEmpty();
        staged.add(message);
      }
    }
  }

  private static boolean isInPlace(Claim claim) {
    return claim.inPlace != NOT_IN_PLACE;
  }

  private void sendOrAbort(Rings rings, Random random, int step) {
    if (claims.isEmpty()) {
      return;
    }
    Claim claim = claims.remove(random.nextInt(claims.size()));
    if (random.nextInt(4) == 0) {
      abort(rings, claim);
    } else if (isInPlace(claim)) {
      int length = random.nextInt(claim.length + 1);
      rings.producer.stageClaim(length);
      staged.add(Arrays.copyOf(claim.inPlace, length));
    } else {
      byte[] message = Rings.message(random.nextInt(claim.length + 1), step);
      rings.stage(claim.line, message, claim.length);
      staged.add(message);
    }
  }

  private static void abort(Rings rings, Claim claim) {
    if (isInPlace(claim)) {
      rings.producer.abortClaim();
    } else {
      rings.producer.unreserve(claim.line, claim.length);
    }
  }

  private void publish(Rings rings) {
    rings.producer.publish();
    published.addAll(staged);
    staged.clear();
  }

  private void receive(Rings rings, Random random) {
    if (random.nextInt(3) == 0) {
      rings.consumer.pollInline(
          (buffer, offset, length) ->
              assertThat(buffer.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE))
                  .isEqualTo(published.remove()),
          1 + random.nextInt(12));
    }
    boolean found = rings.consumer.next();
    assertThat(found).isEqualTo(!published.isEmpty());
    if (found) {
      byte[] expected = published.remove();
      assertThat(rings.found()).isEqualTo(expected);
      int line = rings.consumer.messageLine();
      if (line != RingProducer.INLINE || (random.nextBoolean() && rings.consumer.hold())) {
        held.add(new Held(expected, rings.consumer.messageOffset(), line));
      }
      rings.consumer.advance();
    }
    if (random.nextBoolean()) {
      rings.consumer.acknowledge();
    }
  }

  private void free(Rings rings, Random random) {
    if (!held.isEmpty()) {
      free(rings, held.remove(random.nextInt(held.size())));
    }
  }

  private static void free(Rings rings, Held one) {
    byte[] now = new byte[one.expected.length];
    MemorySegment memory =
        one.line == RingProducer.INLINE ? rings.producer.records() : rings.buffer;
    MemorySegment.ofArray(now).copyFrom(memory.asSlice(one.offset, now.length));
    assertThat(now).as("a held message").isEqualTo(one.expected);
    if (one.line == RingProducer.INLINE) {
      boolean ignored = rings.consumer.endHold();
    } else {
      rings.consumer.release(one.line);
    }
  }

  private void shouldHaveAllItsRoomAgain(Rings rings) {
    claims.forEach(claim -> abort(rings, claim));
    publish(rings);
    held.forEach(one -> free(rings, one));
    while (!published.isEmpty()) {
      assertThat(rings.receive()).isEqualTo(published.remove());
    }
    assertThat(rings.consumer.next()).isFalse(); // skips remaining padding
    rings.consumer.acknowledge();
    assertThat(rings.producer.isReceiverHoldingRoom()).isFalse();
    for (int i = 0; i < 100; i++) {
      byte[] longest = Rings.message(rings.layout.maxMessage(), i);
      assertThat(rings.send(longest)).as("room for the longest message, lap after lap").isTrue();
      assertThat(Arrays.equals(rings.receive(), longest)).isTrue();
    }
    int room = 0;
    while (rings.send(new byte[0])) {
      room++;
    }
    assertThat(room)
        .as("every header but the last one is usable")
        .isEqualTo(rings.layout.capacity() / RingLayout.HEADER - 1);
  }

  private static int randomLength(Random random, RingLayout layout) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(80);
      case 1 -> Math.min(layout.maxMessage(), random.nextInt(1_200));
      case 2 -> Math.clamp(layout.inlineMax() - 2 + random.nextInt(5), 0, layout.maxMessage());
      default -> random.nextInt(layout.maxMessage() + 1);
    };
  }
}
