// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whatever one side of a ring that several threads send on writes where the other does, it is an
 * error that names it; nobody hangs, no line is freed twice, and nothing is accessed out of bounds.
 */
class HostileReceiverTest {

  private static final RingLayout LAYOUT = new RingLayout(6, 256, 10_000);

  private final SharedRings rings = new SharedRings(LAYOUT);

  private void word(long position, long word) {
    rings.ring.set(ValueLayout.JAVA_LONG, rings.header(position), word);
  }

  private void release(int entry, int line, int lap) {
    rings.ring.set(
        ValueLayout.JAVA_INT, RingLayout.RELEASES + 4L * entry, ReleaseEntry.of(line, lap));
  }

  private void assertSenderSees(String part) {
    assertThatThrownBy(() -> rings.send(new byte[10]))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining(part);
  }

  private void assertReceiverSees(String part) {
    assertThatThrownBy(rings.consumer::next)
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining(part);
  }

  @Test
  void aWordInAFreshRecordIsNoticed() {
    word(0, 17);
    assertSenderSees("0x11 to record 0 after 0 messages");
  }

  @Test
  void aWordOfAnotherLapIsNoticed() {
    for (int i = 0; i < 8; i++) {
      rings.send(new byte[8]);
      rings.receive();
    }
    word(8, SharedWord.of(1 + (1 << 12), 0)); // the header alone looks right
    assertSenderSees("to record 0 after 8 messages");
  }

  @Test
  void aRecordThatWasClearedIsNoticed() {
    for (int i = 0; i < 8; i++) {
      rings.send(new byte[8]);
      rings.receive();
    }
    word(8, 0);
    assertSenderSees("0x0 to record 0 after 8 messages");
  }

  @Test
  void aReceiverThatPretendsThatOthersHaveSentIsNoticedBeforeTheSenderHasGoneRound() {
    for (int i = 0; i < SharedRings.records(LAYOUT); i++) {
      word(i, SharedWord.of(1, i));
    }
    assertSenderSees("where no message was sent");
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aReceiverThatWritesAllTheTimeDoesNotHangASender() {
    RingEnds ends =
        new RingEnds() {
          @Override
          public ConcurrentRingProducer concurrentProducer(
              RingLayout layout,
              MemorySegment memory,
              MemorySegment buffer,
              boolean fences,
              Runnable onRoom) {
            return new ConcurrentRingProducer(layout, memory, buffer, fences, onRoom) {
              private int line;

              @Override
              protected void reached(RingStep step) {
                if (step == RingStep.SHARED_RECORD_FOUND && messagesPublished() == 8) {
                  // a word of the lap before, but another one each time that it is looked at
                  memory.set(
                      ValueLayout.JAVA_LONG, layout.recordsOffset(), SharedWord.of(1, ++line + 9));
                }
              }
            };
          }
        };
    SharedRings scribbled = new SharedRings(LAYOUT, ends);
    for (int i = 0; i < 8; i++) {
      scribbled.send(new byte[8]);
      scribbled.receive();
    }
    assertThatThrownBy(() -> scribbled.send(new byte[8]))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("record 0 after 8 messages");
  }

  @Test
  void aReceiverThatTookMoreThanWasSentIsNoticed() {
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, LAYOUT.capacity() + 8L);
    assertSenderSees("consumed 72 bytes");
  }

  @Test
  void aReceiverThatTakesItsWordBackIsNoticed() {
    fill();
    rings.receive();
    assertThat(rings.send(new byte[1])).isPositive();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, 0L);
    assertSenderSees("consumed 0 bytes, after 8");
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
  void linesThatAreNoneCannotBeFreed() {
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
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
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

  @Test
  void aLineOutsideTheBufferIsNoticedBeforeALengthIsReadThere() {
    word(0, SharedWord.of(1, LAYOUT.lines()));
    assertReceiverSees("line 256 of 256");
    word(0, SharedWord.of(1, RingLayout.MAX_LINES - 1));
    assertReceiverSees("line 16777215 of 256");
  }

  @Test
  void aLengthThatCannotBeIsNoticed() {
    word(0, SharedWord.of(1, 200));
    for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 10_001}) {
      rings.buffer.set(ValueLayout.JAVA_INT, 200 * RingLayout.LINE, length);
      assertReceiverSees((length & 0xffffffffL) + " bytes, where 10000");
    }
  }

  @Test
  void aMessageThatEndsOutsideTheBufferWithItsPrefixIsNoticed() {
    word(0, SharedWord.of(1, 255));
    rings.buffer.set(ValueLayout.JAVA_INT, 255 * RingLayout.LINE, 57);
    assertReceiverSees("57 bytes at line 255");
    rings.buffer.set(ValueLayout.JAVA_INT, 255 * RingLayout.LINE, 56);
    assertThat(rings.consumer.next()).isTrue();
    assertThat(rings.found()).hasSize(56);
  }

  @Test
  void aWordWhoseLapIsRightInItsFirstBitsOnlyIsNoticed() {
    word(0, SharedWord.of(1 + (1 << 12), 0));
    assertReceiverSees("after 0 bytes");
    word(0, SharedWord.of(1 + (1L << 28), 0));
    assertReceiverSees("after 0 bytes");
  }

  @Test
  void aRingWithoutLinesTakesNoSuchMessage() {
    SharedRings bare = new SharedRings(new RingLayout(11, 0, 100));
    bare.ring.set(ValueLayout.JAVA_LONG, bare.header(0), SharedWord.of(1, 0));
    assertThatThrownBy(bare.consumer::next).isInstanceOf(CorruptRingException.class);
  }

  @Property(tries = 500)
  void nothingIsReadOrWrittenOutOfBoundsWhateverTheBytesAre(@ForAll long seed) {
    Random random = new Random(seed);
    SharedRings victim = new SharedRings(LAYOUT);
    for (int step = 0; step < 200; step++) {
      int writes = random.nextInt(4);
      for (int i = 0; i < writes; i++) {
        scribble(victim, random);
      }
      try {
        victim.send(new byte[random.nextInt(10_001)]);
        if (victim.consumer.next()) {
          assertThat(victim.consumer.messageLength()).isBetween(0, LAYOUT.maxMessage());
          victim.receive();
        }
      } catch (CorruptRingException e) {
        return; // noticed; the connection would be closed
      }
    }
  }

  private static void scribble(SharedRings victim, Random random) {
    switch (random.nextInt(4)) {
      case 0 ->
          victim.ring.set(
              ValueLayout.JAVA_INT,
              RingLayout.SENDER_ASLEEP
                  + 4L * random.nextInt((int) (LAYOUT.ringSize() - RingLayout.SENDER_ASLEEP) / 4),
              random.nextInt());
      case 1 ->
          victim.ring.set(
              ValueLayout.JAVA_LONG,
              victim.header(random.nextInt(8)),
              SharedWord.of(random.nextInt(3), random.nextInt(300)));
      case 2 ->
          victim.ring.set(
              ValueLayout.JAVA_INT,
              RingLayout.RELEASES + 4L * random.nextInt(LAYOUT.releases()),
              ReleaseEntry.of(random.nextInt(260), random.nextInt(3)));
      default ->
          victim.buffer.set(
              ValueLayout.JAVA_INT,
              (long) random.nextInt(LAYOUT.lines()) * RingLayout.LINE,
              random.nextInt(20_000) - 5_000);
    }
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aSenderWhoseRingIsScribbledOnByAnotherThreadEnds() throws Exception {
    SharedRings victim = new SharedRings(LAYOUT);
    Thread scribbler =
        new Thread(
            () -> {
              Random random = new Random(1);
              while (!Thread.currentThread().isInterrupted()) {
                victim.ring.set(
                    ValueLayout.JAVA_LONG,
                    victim.header(random.nextInt(8)),
                    SharedWord.of(random.nextInt(3), random.nextInt(256)));
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

  /** A connection would not go on after the first; here each is to end. */
  private static void sendOrNotice(SharedRings victim) {
    try {
      victim.send(new byte[8]);
    } catch (CorruptRingException e) {
      return;
    }
  }
}
