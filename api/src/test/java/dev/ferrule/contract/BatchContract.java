// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Batch;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Batches: messages that leave together, in their place, and never wait for themselves. */
public abstract class BatchContract extends Contract {

  private static final MessageStream STREAM = MessageStream.ofRandomLengths(1, KIB);

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

    // no more than a new connection has room for: a claim that has to wait would flush the batch
    for (int round = 1; round <= 3; round++) {
      try (Batch batch = pair.client().sender().batch()) {
        add(pair, (round - 1) * 10, round * 10);
        assertThat(batch.size()).isEqualTo(10);
      }
      receiver.receiveUpTo(round * 10, NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
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
  void idsAreGivenWhenAddedAndCompleteAfterTheFlush() {
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
  void awaitingAnIdThatWaitsInTheBatchFlushesIt() {
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
  void plainSendsKeepTheirPlaceBehindWhatWasAdded() {
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
  void aClaimThatFindsNoRoomFlushesBeforeItWaits() {
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
        // a transport may find room again by itself when its batch is under way
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
  void whatWasAddedAndNotFlushedIsNotSentByTheClose() {
    Pair pair = connect();
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

  private static void add(Pair pair, int from, int to) {
    Sender sender = pair.client().sender();
    for (int number = from; number < to; number++) {
      SendRegion region = sender.claim(STREAM.length(number));
      STREAM.write(region.buffer(), region.offset(), number);
      sender.batch().add(region);
    }
  }
}
