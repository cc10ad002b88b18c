// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Drives a ring by random steps and compares it with what a queue of byte arrays would do. */
class RingModelTest {

  /** A message whose payload lines the consumer still holds. */
  private record Held(byte[] expected, long offset, int line) {}

  /** A claim that was neither sent nor aborted. */
  private record Claim(int line, int length) {}

  @Property(tries = 400)
  void shouldBehaveLikeAQueueWhateverTheOrderOfClaimsSendsReceivesAndFrees(
      @ForAll @IntRange(min = 2, max = 7) int slotsShift,
      @ForAll @IntRange(min = 64, max = 400) int lines,
      @ForAll long seed) {
    RingLayout layout = new RingLayout(slotsShift, lines, lines * RingLayout.LINE / 3 + 252);
    Rings rings = new Rings(layout, true);
    Random random = new Random(seed);
    List<Claim> claims = new ArrayList<>();
    ArrayDeque<byte[]> staged = new ArrayDeque<>();
    ArrayDeque<byte[]> published = new ArrayDeque<>();
    List<Held> held = new ArrayList<>();

    for (int step = 0; step < 2_000; step++) {
      switch (random.nextInt(6)) {
        case 0 -> {
          int length = randomLength(random, layout);
          int line = rings.producer.reserve(length);
          if (line != RingProducer.FULL) {
            claims.add(new Claim(line, length));
          }
        }
        case 1 -> {
          if (!claims.isEmpty()) {
            Claim claim = claims.remove(random.nextInt(claims.size()));
            if (random.nextInt(4) == 0) {
              rings.producer.unreserve(claim.line, claim.length);
            } else {
              byte[] message = Rings.message(random.nextInt(claim.length + 1), step);
              rings.stage(claim.line, message, claim.length);
              staged.add(message);
            }
          }
        }
        case 2 -> {
          rings.producer.publish();
          published.addAll(staged);
          staged.clear();
        }
        case 3, 4 -> {
          boolean found = rings.consumer.next();
          assertThat(found).isEqualTo(!published.isEmpty());
          if (found) {
            byte[] expected = published.remove();
            assertThat(rings.found()).isEqualTo(expected);
            int line = rings.consumer.messageLine();
            if (line != RingProducer.INLINE) {
              held.add(new Held(expected, rings.consumer.messageOffset(), line));
            }
            rings.consumer.advance();
            if (random.nextBoolean()) {
              rings.consumer.acknowledge();
            }
          }
        }
        default -> {
          if (!held.isEmpty()) {
            Held one = held.remove(random.nextInt(held.size()));
            assertIntact(rings, one);
            rings.consumer.release(one.line);
          }
        }
      }
    }
    held.forEach(one -> assertIntact(rings, one));
    shouldHaveAllItsRoomAgain(rings, claims, staged, published, held);
  }

  private static void assertIntact(Rings rings, Held one) {
    byte[] now = new byte[one.expected.length];
    java.lang.foreign.MemorySegment.ofArray(now)
        .copyFrom(rings.buffer.asSlice(one.offset, now.length));
    assertThat(now).as("a message that is held").isEqualTo(one.expected);
  }

  private static void shouldHaveAllItsRoomAgain(
      Rings rings,
      List<Claim> claims,
      ArrayDeque<byte[]> staged,
      ArrayDeque<byte[]> published,
      List<Held> held) {
    claims.forEach(claim -> rings.producer.unreserve(claim.line, claim.length));
    rings.producer.publish();
    published.addAll(staged);
    while (!published.isEmpty()) {
      assertThat(rings.receive()).isEqualTo(published.remove());
    }
    held.forEach(one -> rings.consumer.release(one.line));
    rings.consumer.acknowledge();
    for (int i = 0; i < 3 * rings.layout.slots(); i++) {
      byte[] longest = Rings.message(rings.layout.maxMessage(), i);
      assertThat(rings.send(longest)).as("room for the longest message, lap after lap").isTrue();
      assertThat(Arrays.equals(rings.receive(), longest)).isTrue();
    }
    int room = 0;
    while (rings.send(new byte[Rings.ONE_IN_A_SLOT])) {
      room++;
    }
    assertThat(room).as("every slot but one is usable").isEqualTo(rings.layout.slots() - 1);
  }

  private static int randomLength(Random random, RingLayout layout) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(80);
      case 1 -> Math.min(layout.maxMessage(), random.nextInt(1_200));
      case 2 -> Math.min(layout.maxMessage(), layout.inlineMax() - 2 + random.nextInt(5));
      default -> random.nextInt(layout.maxMessage() + 1);
    };
  }
}
