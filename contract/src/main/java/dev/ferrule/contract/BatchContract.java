// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
 * Batches of regions and of copies: messages that are sent together, stay in order, and never wait
 * for the space that they occupy themselves.
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
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    add(pair, 0, 8);
    assertThat(sender.staged()).isEqualTo(8);
    sender.flush();

    assertThat(sender.staged()).isZero();
    receiver.receiveUpTo(8, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
  }

  @Test
  void afterAFlushFurtherMessagesCanBeStaged() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    // no more than a new connection has space for: a claim that has to wait would flush
    for (int round = 1; round <= 3; round++) {
      add(pair, (round - 1) * 10, round * 10);
      assertThat(sender.staged()).isEqualTo(10);
      sender.flush();
      receiver.receiveUpTo(round * 10, NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
  }

  /** Otherwise a program that waits for room by other means than claim would wait forever. */
  @Test
  void aClaimThatFindsNoRoomFlushesTheBatch() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    int staged = 0;
    SendRegion region = sender.tryClaim(KIB);
    while (region != null) {
      region.stage();
      staged++;
      region = sender.tryClaim(KIB);
    }

    assertThat(sender.staged()).isZero();
    for (int i = 0; i < staged; i++) {
      pair.server().receiver().receive(PATIENCE).close();
    }
    sender.claim(KIB, PATIENCE).abort();
  }

  @Test
  void flushingAnEmptyBatchDoesNothing() {
    Pair pair = connect();
    Sender sender = pair.client().sender();

    sender.flush();

    assertThat(sender.staged()).isZero();
    new NumberedReceiver(pair.server(), STREAM).expectNoMore();
    assertThat(pair.client().counters().messagesSent()).isZero();
  }

  @Test
  void idsAreAssignedWhenStagedAndCompleteAfterTheFlush() {
    Pair pair = connect();
    Sender sender = pair.client().sender();

    long first = sender.claim(10).stage();
    long second = sender.claim(10).stage(5);
    assertThat(second).isEqualTo(first + 1);
    assertThat(sender.isComplete(first)).isFalse();
    assertThat(sender.isComplete(second)).isFalse();
    sender.flush();

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
    assertThat(sender.staged()).isZero();
    receiver.receiveUpTo(3, NumberedReceiver.Way.RECEIVE);

    add(pair, 3, 5);
    sender.await(5, PATIENCE);
    assertThat(sender.staged()).isZero();
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
    sender.flush();
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
    region.commit();
    assertThat(sender.staged()).as("size after commit").isZero();

    add(pair, 3, 5);
    sender.send(MemorySegment.ofArray(STREAM.bytes(5)));
    assertThat(sender.staged()).as("size after send").isZero();

    add(pair, 6, 7);
    STREAM.write(memory, 0, 7);
    sender.sendRegistered(registered, 0, STREAM.length(7));
    assertThat(sender.staged()).as("size after sending registered memory").isZero();

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
      regions[i].stage();
      if (i == 0) {
        regions[2].abort();
      }
    }
    regions[1].abort();
    sender.flush();

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
              pair.client().sender().flush();
            });
    new NumberedReceiver(pair.server(), STREAM)
        .receiveAll(messages, NumberedReceiver.Way.RECEIVE, sending);
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
      assertThat(sender.staged()).isEqualTo(number);
    }
    receiver.expectNoMore();
    assertThat(sender.isComplete(2)).isFalse();
    assertThat(sender.isComplete(9)).isFalse();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(1);
    assertThat(pair.client().counters().bytesSent()).isEqualTo(STREAM.length(0));
    sender.flush();

    assertThat(sender.staged()).isZero();
    receiver.receiveUpTo(9, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
    sender.await(9, PATIENCE);
    assertThat(sender.isComplete(2)).isTrue();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(9);
  }

  @Test
  void copiesStayInOrderWithRegionsAndPlainSends() {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) LONG_MESSAGE));
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
              pair.client().sender().flush();
            });
    new NumberedReceiver(pair.server(), stream)
        .receiveAll(messages, NumberedReceiver.Way.RECEIVE, sending);
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
              pair.client().sender().flush();
            });
    new NumberedReceiver(pair.server(), STREAM)
        .receiveAll(messages, NumberedReceiver.Way.POLL, sending);
  }

  @Test
  void theSourceOfACopyMayBeReusedAtOnce() {
    Pair pair = connect();
    byte[] source = new byte[100];

    for (byte i = 0; i < 10; i++) {
      Arrays.fill(source, i);
      pair.client().sender().stage(MemorySegment.ofArray(source));
    }
    Arrays.fill(source, (byte) 77);
    pair.client().sender().flush();

    for (byte i = 0; i < 10; i++) {
      try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE)).hasSize(100).containsOnly(i);
      }
    }
  }

  @Test
  void aCopyOfAPartOfASegmentIsAdded() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MemorySegment source = MemorySegment.ofArray("0123456789".getBytes(US_ASCII));

    sender.stage(source, 3, 4);
    sender.stage(source, 10, 0);
    sender.stage(source);
    sender.flush();

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
    Arena arena = Arena.ofConfined();
    MemorySegment freed = arena.allocate(KIB);
    arena.close();
    MemorySegment ofAnotherThread =
        inBackground("owner", () -> Arena.ofConfined().allocate(KIB)).result();
    MemorySegment source = MemorySegment.ofArray(new byte[10]);
    MemorySegment tooLong = MemorySegment.ofArray(new byte[sender.maxMessage() + 1]);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    int number = 0;
    for (int round = 0; round < Math.max(20, provider.messages(2_000) / 20); round++) {
      for (int i = 0; i < 2; i++) { // with an empty batch, and with a message in it
        int size = sender.staged();
        for (int length : new int[] {0, 1, 8, 12, 100, KIB}) {
          if (length > 0) {
            assertThatThrownBy(() -> sender.stage(freed, 0, length))
                .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> sender.stage(ofAnotherThread, 0, length))
                .isInstanceOf(WrongThreadException.class);
          }
          assertOutOfBounds(sender, source, Math.max(0, 11 - length), length);
        }
        assertOutOfBounds(sender, source, -1, 2);
        assertOutOfBounds(sender, source, 3, -1);
        assertOutOfBounds(sender, source, 0, 1L << 32 | 8);
        assertOutOfBounds(sender, source, Long.MAX_VALUE, 8);
        assertOutOfBounds(sender, source, Long.MIN_VALUE, 8);
        assertThatThrownBy(() -> sender.stage(tooLong)).isInstanceOf(MessageTooLongException.class);
        assertThat(sender.staged()).isEqualTo(size);
        assertThat(addCopy(pair, number++)).isEqualTo(number);
      }
      sender.flush();
      receiver.receiveUpTo(number, NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(number);
  }

  private static void assertOutOfBounds(
      Sender sender, MemorySegment source, long offset, long length) {
    assertThatThrownBy(() -> sender.stage(source, offset, length))
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
                    sender.stage(MemorySegment.ofArray(stream.bytes(added[0])));
                    added[0]++;
                  }
                }));
    adding.awaitInside("stage");
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
    assertClosedByPeer(() -> pair.client().sender().stage(message));
    assertClosedByPeer(() -> pair.client().sender().stage(nothing));
    assertClosed(() -> pair.server().sender().stage(message));
    assertClosed(() -> pair.server().sender().stage(message, 1, 2));
    assertThat(pair.client().sender().staged()).isZero();
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
      region.stage();
      region = sender.tryClaim(700);
    }

    try {
      while (true) {
        // a transport may have space again when its batch is in flight
        SendRegion more = sender.claim(700, LASTING);
        stream.write(more.buffer(), more.offset(), added++);
        more.commit();
      }
    } catch (OperationTimeoutException e) {
      assertThat(sender.staged()).isZero();
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
                pair.client().sender().flush();
              }
            });
    new NumberedReceiver(pair.server(), STREAM)
        .receiveAll(messages, NumberedReceiver.Way.POLL, sending);
  }

  @Test
  void aBatchToAPeerThatHasClosedFails() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    long id = sender.claim(10).stage();
    SendRegion another = sender.claim(10);
    pair.server().close();
    awaitPeersClose(pair.client());

    assertThat(sender.isComplete(id)).isFalse();
    assertClosedByPeer(() -> another.stage());
    assertClosedByPeer(() -> sender.flush());
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
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    assertThat(sender.isComplete(3)).isFalse();
    assertClosed(() -> sender.await(3));
    assertClosed(() -> sender.flush());
  }

  @Test
  void anEmptyBatchCanBeFlushedAfterTheConnectionWasClosed() {
    Pair pair = connect();
    Sender sender = pair.client().sender();

    pair.client().close();

    sender.flush();
    assertThatThrownBy(() -> pair.client().sender().claim(1))
        .isInstanceOf(ConnectionClosedException.class);
  }

  private static long addCopy(Pair pair, int number) {
    return pair.client().sender().stage(MemorySegment.ofArray(STREAM.bytes(number)));
  }

  private static void add(Pair pair, int from, int to) {
    Sender sender = pair.client().sender();
    for (int number = from; number < to; number++) {
      SendRegion region = sender.claim(STREAM.length(number));
      STREAM.write(region.buffer(), region.offset(), number);
      region.stage();
    }
  }
}
