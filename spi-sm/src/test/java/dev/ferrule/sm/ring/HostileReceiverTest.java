// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every value that the receiver writes to a ring on which several threads send causes an error that
 * names it; no thread hangs, no line is freed twice, and nothing is accessed out of bounds.
 */
class HostileReceiverTest {

  private static final RingLayout LAYOUT = new RingLayout(6, 256, 10_000);
  private static final RingLayout WITH_INLINE = new RingLayout(10, 256, 10_000);

  private final SharedRings rings = new SharedRings(LAYOUT);

  private void release(int entry, int line, int lap) {
    rings.ring.set(
        ValueLayout.JAVA_INT, RingLayout.RELEASES + 4L * entry, ReleaseEntry.of(line, lap));
  }

  private void assertSenderSees(String part) {
    assertThatThrownBy(() -> rings.send(new byte[10]))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining(part);
  }

  @Test
  void aConsumedCountBeyondThePublishedOneIsDetected() {
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, LAYOUT.capacity() + 8L);
    assertSenderSees("consumed count is 72,");
  }

  @Test
  void aConsumedCountThatGoesBackwardsIsDetected() {
    fill();
    rings.receive();
    assertThat(rings.send(new byte[1])).isPositive();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, 0L);
    assertSenderSees("consumed count is 0, after 8,");
  }

  @Test
  void aHeldRecordOutsideTheRingIsDetected() {
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.HELD, HeldRecord.of(64, 8));
    assertSenderSees("held record is 0x4000000008");
  }

  /** The records behind the last checkpoint are read when the lock is revoked from a thread. */
  @ParameterizedTest
  @ValueSource(
      longs = {
        4, // no type
        0x10, // a type of 0 in a header that is not 0
        (64 << 4) | RecordHeader.TYPE_INLINE, // longer than the maximum
        (4 << 4) | RecordHeader.TYPE_PADDING, // not a multiple of 8
        RecordHeader.TYPE_PADDING, // of length 0
        (128 << 4) | RecordHeader.TYPE_PADDING // more than the ring
      })
  void aHeaderThatIsWrittenWhereAThreadIsCutOffIsDetected(long header) {
    rings.ring.set(ValueLayout.JAVA_LONG, LAYOUT.recordsOffset(), header);
    assertThatThrownBy(() ->
            Epoch.State.NEW.withAllPublished(LAYOUT, rings.ring.address() + LAYOUT.recordsOffset()))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("0x" + Long.toHexString(header));
  }

  @Test
  void aRingFullOfRecordsWhereAThreadIsCutOffIsDetected() {
    for (int offset = 0; offset < LAYOUT.capacity(); offset += 8) {
      rings.ring.set(
          ValueLayout.JAVA_LONG, LAYOUT.recordsOffset() + offset, RecordHeader.inline(0));
    }
    assertThatThrownBy(() ->
            Epoch.State.NEW.withAllPublished(LAYOUT, rings.ring.address() + LAYOUT.recordsOffset()))
        .isInstanceOf(CorruptRingException.class);
  }

  private void fill() {
    for (int i = 0; i < SharedRings.records(LAYOUT); i++) {
      assertThat(rings.send(new byte[1])).isPositive();
    }
  }

  @Test
  void linesThatWereNeverSentCannotBeFreed() {
    assertThat(rings.producer.reserve(9_000)).isZero();
    release(0, 0, 1);
    assertThatThrownBy(() -> rings.producer.reserve(9_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("payload line 0");
  }

  @Test
  void linesOutsideTheBufferCannotBeFreed() {
    rings.producer.reserve(9_000);
    release(0, LAYOUT.lines(), 1);
    assertThatThrownBy(() -> rings.producer.reserve(9_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("payload line 256");
  }

  @Test
  void linesThatAreFreedTwiceAreFreedOnce() {
    int line = rings.producer.reserve(9_000);
    rings.publish(line, new byte[9_000]);
    release(0, line, 1);
    release(1, line, 1);
    assertThatThrownBy(() -> rings.producer.reserve(9_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("payload line 0");
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aReleaseDuringAClaimCannotGetALineTwice() {
    List<CompletableFuture<Integer>> takers = new ArrayList<>();
    SharedRings small = new SharedRings(new RingLayout(6, 1, 8));
    assertThat(small.send(new byte[8])).isPositive();
    small.ring.set(ValueLayout.JAVA_INT, RingLayout.RELEASES, ReleaseEntry.of(0, 1));
    for (int i = 0; i < 4; i++) {
      takers.add(CompletableFuture.supplyAsync(() -> small.producer.reserve(8)));
    }
    assertThat(takers.stream().map(CompletableFuture::join).filter(line -> line == 0)).hasSize(1);
  }

  @Property(tries = 500)
  void nothingIsReadOrWrittenOutOfBoundsWhateverTheBytesAre(@ForAll long seed) {
    Random random = new Random(seed);
    RingLayout layout = random.nextBoolean() ? LAYOUT : WITH_INLINE;
    SharedRings victim = new SharedRings(layout);
    for (int step = 0; step < 200; step++) {
      int writes = random.nextInt(4);
      for (int i = 0; i < writes; i++) {
        scribble(victim, random);
      }
      try {
        int longest = random.nextBoolean() ? victim.producer.inlineMax() : layout.maxMessage();
        victim.send(new byte[random.nextInt(longest + 1)]);
        if (victim.consumer.next()) {
          assertThat(victim.consumer.messageLength()).isBetween(0, layout.maxMessage());
          victim.receive();
        }
      } catch (CorruptRingException e) {
        return; // detected; the connection would be closed
      }
    }
  }

  private static void scribble(SharedRings victim, Random random) {
    RingLayout layout = victim.layout;
    int capacity = layout.capacity();
    switch (random.nextInt(4)) {
      case 0 ->
          victim.ring.set(
              ValueLayout.JAVA_INT,
              RingLayout.SENDER_ASLEEP
                  + 4L * random.nextInt((int) (layout.ringSize() - RingLayout.SENDER_ASLEEP) / 4),
              random.nextInt());
      case 1 ->
          victim.ring.set(
              ValueLayout.JAVA_LONG,
              layout.recordsOffset() + 8L * random.nextInt(capacity / 8),
              random.nextInt(8) | (long) random.nextInt(300) << random.nextInt(40));
      case 2 ->
          victim.ring.set(
              ValueLayout.JAVA_INT,
              RingLayout.RELEASES + 4L * random.nextInt(layout.releases()),
              ReleaseEntry.of(random.nextInt(260), random.nextInt(3)));
      default ->
          victim.ring.set(
              ValueLayout.JAVA_LONG,
              random.nextBoolean() ? RingLayout.CONSUMED : RingLayout.HELD,
              random.nextInt(capacity + 16) & -8
                  | (long) (random.nextInt(capacity + 16) & -8) << 32);
    }
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aSenderWhoseRingIsScribbledOnByAnotherThreadEnds() throws Exception {
    SharedRings victim = new SharedRings(LAYOUT);
    Thread scribbler =
        new Thread(() -> {
          Random random = new Random(1);
          while (!Thread.currentThread().isInterrupted()) {
            victim.ring.set(
                ValueLayout.JAVA_LONG,
                random.nextBoolean() ? RingLayout.CONSUMED : RingLayout.HELD,
                8L * random.nextInt(100));
          }
        });
    scribbler.start();
    try {
      for (int i = 0; i < 10_000; i++) {
        assertThatCode(() -> sendOrNotice(victim)).doesNotThrowAnyException();
      }
    } finally {
      scribbler.interrupt();
      scribbler.join();
    }
  }

  /** A connection would end after the first error; here each call may fail. */
  private static void sendOrNotice(SharedRings victim) {
    try {
      victim.send(new byte[8]);
    } catch (CorruptRingException e) {
      return;
    }
  }
}
