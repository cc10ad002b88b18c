// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Batch;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Batches of regions and of copies: messages that are sent together, stay in order, and never block
 * themselves.
 */
public abstract class BatchContract extends Contract {

  private static final MessageStream STREAM = MessageStream.ofRandomLengths(1, KIB);
  private static final int LONG_MESSAGE = 20_000; // too long to be inlined by any transport

  private static final NumberedSender.Way[] BATCHED_MORE_OFTEN = {
    NumberedSender.Way.BATCH_COPY,
    NumberedSender.Way.BATCH_COPY,
    NumberedSender.Way.BATCH_COPY,
    NumberedSender.Way.BATCH_COPY,
    NumberedSender.Way.BATCH,
    NumberedSender.Way.BATCH,
    NumberedSender.Way.COPY_FROM_NATIVE,
    NumberedSender.Way.CLAIM
  };

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected BatchContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  void aFlushedBatchArrivesInOrder() {
    Pair pair = connect();
    Batch batch = pair.client().sender().batch();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    add(pair, 0, 8);
    assertThat(batch.size()).isEqualTo(8);
    batch.flush();

    assertThat(batch.size()).isZero();
    receiver.receiveUpTo(8, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
  }

  @Test
  void closingABatchFlushesItAndItCanBeUsedAgain() {
    Pair pair = connect();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    // no more than a new connection has space for: a claim that has to wait would flush the batch
    for (int round = 1; round <= 3; round++) {
      try (Batch batch = pair.client().sender().batch()) {
        add(pair, (round - 1) * 10, round * 10);
        assertThat(batch.size()).isEqualTo(10);
      }
      receiver.receiveUpTo(round * 10, NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
  }

  /** Otherwise a program that waits for room, by any means but claim, would wait in vain. */
  @Test
  void aClaimThatFindsNoRoomFlushesTheBatch() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    int staged = 0;
    SendRegion region = sender.tryClaim(KIB);
    while (region != null) {
      sender.batch().add(region);
      staged++;
      region = sender.tryClaim(KIB);
    }

    assertThat(sender.batch().size()).isZero();
    for (int i = 0; i < staged; i++) {
      pair.server().receiver().receive(PATIENCE).close();
    }
    sender.claim(KIB, PATIENCE).abort();
  }

  @Test
  void flushingAnEmptyBatchDoesNothing() {
    Pair pair = connect();
    Batch batch = pair.client().sender().batch();

    batch.flush();
    batch.close();

    assertThat(batch.size()).isZero();
    new NumberedReceiver(pair.server(), STREAM).expectNoMore();
    assertThat(pair.client().counters().messagesSent()).isZero();
  }

  @Test
  void idsAreAssignedWhenAddedAndCompleteAfterTheFlush() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    Batch batch = sender.batch();

    long first = batch.add(sender.claim(10));
    long second = batch.add(sender.claim(10), 5);
    assertThat(second).isEqualTo(first + 1);
    assertThat(sender.isComplete(first)).isFalse();
    assertThat(sender.isComplete(second)).isFalse();
    batch.flush();

    sender.await(second, PATIENCE);
    assertThat(sender.isComplete(first)).isTrue();
    assertThat(sender.isComplete(second)).isTrue();
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(10);
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(5);
  }

  @Test
  void awaitingAnIdInTheBatchFlushesIt() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    add(pair, 0, 3);
    sender.await(2);
    assertThat(sender.batch().size()).isZero();
    receiver.receiveUpTo(3, NumberedReceiver.Way.RECEIVE);

    add(pair, 3, 5);
    sender.await(5, PATIENCE);
    assertThat(sender.batch().size()).isZero();
    receiver.receiveUpTo(5, NumberedReceiver.Way.RECEIVE);
  }

  @Test
  void awaitingAnEarlierIdDoesNotNeedTheBatch() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    long before = sender.send(MemorySegment.ofArray(STREAM.bytes(0)));
    add(pair, 1, 3);

    sender.await(before, PATIENCE);

    assertThat(sender.isComplete(before)).isTrue();
    sender.batch().flush();
    new NumberedReceiver(pair.server(), STREAM).receiveUpTo(3, NumberedReceiver.Way.RECEIVE);
  }

  @Test
  void plainSendsFollowTheMessagesAddedBefore() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MemorySegment memory = Arena.ofAuto().allocate(KIB);
    RegisteredMemory registered = pair.client().register(memory);

    add(pair, 0, 2);
    SendRegion region = sender.claim(STREAM.length(2));
    STREAM.write(region.buffer(), region.offset(), 2);
    sender.sendAsync(region);
    assertThat(sender.batch().size()).as("size after sendAsync").isZero();

    add(pair, 3, 5);
    sender.send(MemorySegment.ofArray(STREAM.bytes(5)));
    assertThat(sender.batch().size()).as("size after send").isZero();

    add(pair, 6, 7);
    STREAM.write(memory, 0, 7);
    sender.sendAsync(registered, 0, STREAM.length(7));
    assertThat(sender.batch().size()).as("size after sending registered memory").isZero();

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receiveUpTo(8, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
  }

  @Test
  void regionsMayBeAddedInAnyOrderAndAbortedInBetween() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofLength(50);
    SendRegion[] regions = new SendRegion[5];
    for (int i = 0; i < regions.length; i++) {
      regions[i] = sender.claim(50);
    }

    int number = 0;
    for (int i : new int[] {3, 0, 4}) {
      stream.write(regions[i].buffer(), regions[i].offset(), number++);
      sender.batch().add(regions[i]);
      if (i == 0) {
        regions[2].abort();
      }
    }
    regions[1].abort();
    sender.batch().flush();

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(3, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
  }

  @Test
  void aBatchThatIsNeverFlushedDoesNotBlockItself() {
    Pair pair = connect();
    int messages = provider.messages(50_000);

    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              add(pair, 0, messages);
              pair.client().sender().batch().flush();
            });
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receiveUpTo(messages, NumberedReceiver.Way.RECEIVE);

    sending.result();
    receiver.expectNoMore();
  }

  @Test
  void copiesBecomeVisibleOnlyWhenFlushed() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    sender.send(MemorySegment.ofArray(STREAM.bytes(0)));
    receiver.receiveUpTo(1, NumberedReceiver.Way.RECEIVE);

    for (int number = 1; number < 9; number++) {
      assertThat(addCopy(pair, number)).as("id").isEqualTo(number + 1L);
      assertThat(sender.batch().size()).isEqualTo(number);
    }
    receiver.expectNoMore();
    assertThat(sender.isComplete(2)).isFalse();
    assertThat(sender.isComplete(9)).isFalse();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(1);
    assertThat(pair.client().counters().bytesSent()).isEqualTo(STREAM.length(0));
    sender.batch().flush();

    assertThat(sender.batch().size()).isZero();
    receiver.receiveUpTo(9, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
    sender.await(9, PATIENCE);
    assertThat(sender.isComplete(2)).isTrue();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(9);
  }

  @Test
  void copiesStayInOrderWithRegionsAndPlainSends() {
    Pair pair = connect(options().maxMessageSize(LONG_MESSAGE));
    MessageStream stream = MessageStream.ofRandomLengths(2, LONG_MESSAGE);
    int messages = provider.messages(50_000);

    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              SplittableRandom random = new SplittableRandom(5);
              NumberedSender sender = new NumberedSender(pair.client(), stream, LONG_MESSAGE);
              while (sender.count() < messages) {
                SendRegion claimed =
                    random.nextInt(8) == 0 ? pair.client().sender().tryClaim(100) : null;
                long id = sender.send(BATCHED_MORE_OFTEN[random.nextInt(8)]);
                assertThat(id).isEqualTo(sender.count());
                if (claimed != null) {
                  claimed.abort(); // claimed before that message, and occupies the space before it
                }
              }
              pair.client().sender().batch().flush();
            });
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(messages, NumberedReceiver.Way.RECEIVE);

    sending.result();
    receiver.expectNoMore();
  }

  @Test
  void aBatchOfCopiesThatIsNeverFlushedDoesNotBlockItself() {
    Pair pair = connect();
    int messages = provider.messages(50_000);

    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              for (int number = 0; number < messages; number++) {
                addCopy(pair, number);
              }
              pair.client().sender().batch().flush();
            });
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receiveUpTo(messages, NumberedReceiver.Way.POLL);

    sending.result();
    receiver.expectNoMore();
  }

  @Test
  void theSourceOfACopyMayBeReusedAtOnce() {
    Pair pair = connect();
    byte[] source = new byte[100];

    for (byte i = 0; i < 10; i++) {
      Arrays.fill(source, i);
      pair.client().sender().batch().add(MemorySegment.ofArray(source));
    }
    Arrays.fill(source, (byte) 77);
    pair.client().sender().batch().flush();

    for (byte i = 0; i < 10; i++) {
      try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE)).hasSize(100).containsOnly(i);
      }
    }
  }

  @Test
  void aCopyOfAPartOfASegmentIsAdded() {
    Pair pair = connect();
    Batch batch = pair.client().sender().batch();
    MemorySegment source = MemorySegment.ofArray("0123456789".getBytes(US_ASCII));

    batch.add(source, 3, 4);
    batch.add(source, 10, 0);
    batch.add(source);
    batch.flush();

    for (String expected : new String[] {"3456", "", "0123456789"}) {
      try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
            .asString(US_ASCII)
            .isEqualTo(expected);
      }
    }
  }

  @Test
  void anUnreadableSourceLeavesTheBatchUnchangedAndOccupiesNoSpace() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    Batch batch = sender.batch();
    Arena arena = Arena.ofConfined();
    MemorySegment freed = arena.allocate(KIB);
    arena.close();
    MemorySegment ofAnotherThread =
        inBackground("owner", () -> Arena.ofConfined().allocate(KIB)).result();
    MemorySegment source = MemorySegment.ofArray(new byte[10]);
    MemorySegment tooLong = MemorySegment.ofArray(new byte[sender.maxMessageSize() + 1]);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    int number = 0;
    for (int round = 0; round < Math.max(20, provider.messages(2_000) / 20); round++) {
      for (int i = 0; i < 2; i++) { // with an empty batch, and with a message in it
        int size = batch.size();
        for (int length : new int[] {0, 1, 8, 12, 100, KIB}) {
          if (length > 0) {
            assertThatThrownBy(() -> batch.add(freed, 0, length))
                .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> batch.add(ofAnotherThread, 0, length))
                .isInstanceOf(WrongThreadException.class);
          }
          assertOutOfBounds(batch, source, Math.max(0, 11 - length), length);
        }
        assertOutOfBounds(batch, source, -1, 2);
        assertOutOfBounds(batch, source, 3, -1);
        assertOutOfBounds(batch, source, 0, 1L << 32 | 8);
        assertOutOfBounds(batch, source, Long.MAX_VALUE, 8);
        assertOutOfBounds(batch, source, Long.MIN_VALUE, 8);
        assertThatThrownBy(() -> batch.add(tooLong)).isInstanceOf(MessageTooLongException.class);
        assertThat(batch.size()).isEqualTo(size);
        assertThat(addCopy(pair, number++)).isEqualTo(number);
      }
      batch.flush();
      receiver.receiveUpTo(number, NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(number);
  }

  private static void assertOutOfBounds(
      Batch batch, MemorySegment source, long offset, long length) {
    assertThatThrownBy(() -> batch.add(source, offset, length))
        .as("%d bytes from %d of 10", length, offset)
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aCopyWithoutSpaceFlushesBeforeItWaits() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofLength(700);
    long[] added = {0};

    Background<Boolean> adding =
        inBackground(
            "sender",
            () ->
                assertClosed(() -> {
                  while (true) {
                    sender.batch().add(MemorySegment.ofArray(stream.bytes(added[0])));
                    added[0]++;
                  }
                }));
    adding.awaitInside("add");
    // the messages before it have arrived although the program never flushed them
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(8, NumberedReceiver.Way.RECEIVE);
    pair.client().close();

    adding.result();
    assertThat(added[0]).isGreaterThanOrEqualTo(8);
  }

  @Test
  void aCopyOverAConnectionThatIsClosedFails() {
    Pair pair = connect();
    MemorySegment message = MemorySegment.ofArray(new byte[10]);
    MemorySegment nothing = MemorySegment.ofArray(new byte[0]);

    pair.server().close();
    awaitPeersClose(pair.client());
    assertClosedByPeer(() -> pair.client().sender().batch().add(message));
    assertClosedByPeer(() -> pair.client().sender().batch().add(nothing));
    assertClosed(() -> pair.server().sender().batch().add(message));
    assertClosed(() -> pair.server().sender().batch().add(message, 1, 2));
    assertThat(pair.client().sender().batch().size()).isZero();
  }

  @Test
  void aClaimWithoutSpaceFlushesBeforeItWaits() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofLength(700);
    long added = 0;
    SendRegion region = sender.tryClaim(700);
    while (region != null) {
      stream.write(region.buffer(), region.offset(), added++);
      sender.batch().add(region);
      region = sender.tryClaim(700);
    }

    try {
      while (true) {
        // a transport may have space again when its batch is in flight
        SendRegion more = sender.claim(700, LASTING);
        stream.write(more.buffer(), more.offset(), added++);
        sender.sendAsync(more);
      }
    } catch (OperationTimeoutException e) {
      assertThat(sender.batch().size()).isZero();
    }

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(added, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
  }

  @Test
  void batchesOfEverySizeArrive() {
    Pair pair = connect();
    int sizes = 100;
    int messages = sizes * (sizes + 1) / 2;

    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              int next = 0;
              for (int size = 1; size <= sizes; size++) {
                add(pair, next, next + size);
                next += size;
                pair.client().sender().batch().flush();
              }
            });
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receiveUpTo(messages, NumberedReceiver.Way.POLL);

    sending.result();
    receiver.expectNoMore();
  }

  @Test
  void aBatchToAPeerThatHasClosedFails() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    long id = sender.batch().add(sender.claim(10));
    SendRegion another = sender.claim(10);
    pair.server().close();
    awaitPeersClose(pair.client());

    assertThat(sender.isComplete(id)).isFalse();
    assertClosedByPeer(() -> sender.batch().add(another));
    assertClosedByPeer(() -> sender.batch().flush());
    assertClosedByPeer(() -> sender.await(id));
    assertClosedByPeer(() -> sender.await(id, PATIENCE));
    assertThat(sender.isComplete(id)).isFalse();
  }

  @Test
  void unflushedMessagesAreNotSentByTheClose() {
    Pair pair = connect(options().set(StandardOptions.CLOSE_TIMEOUT, PATIENCE));
    Sender sender = pair.client().sender();
    sender.send(MemorySegment.ofArray(STREAM.bytes(0)));
    add(pair, 1, 3);

    pair.client().close();

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receive(NumberedReceiver.Way.RECEIVE);
    assertClosedByPeer(() -> pair.server().receiver().receive(PATIENCE));
    assertThat(sender.isComplete(3)).isFalse();
    assertClosed(() -> sender.await(3));
    assertClosed(() -> sender.batch().flush());
  }

  @Test
  void anEmptyBatchCanBeFlushedAfterTheConnectionWasClosed() {
    Pair pair = connect();
    Batch batch = pair.client().sender().batch();

    pair.client().close();

    batch.flush();
    batch.close();
    assertThatThrownBy(() -> pair.client().sender().claim(1))
        .isInstanceOf(ConnectionClosedException.class);
  }

  private static long addCopy(Pair pair, int number) {
    return pair.client().sender().batch().add(MemorySegment.ofArray(STREAM.bytes(number)));
  }

  private static void add(Pair pair, int from, int to) {
    Sender sender = pair.client().sender();
    for (int number = from; number < to; number++) {
      SendRegion region = sender.claim(STREAM.length(number));
      STREAM.write(region.buffer(), region.offset(), number);
      sender.batch().add(region);
    }
  }
}
