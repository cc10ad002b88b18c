// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several senders of one connection, by {@link Connection#newSender}. */
public abstract class NewSenderContract extends Contract {

  private static final int SENDERS = 4;
  private static final int LONGEST = 3_000;

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected NewSenderContract(ProviderUnderTest provider) {
    super(provider);
  }

  /**
   * Returns a message that starts with its sender's number and its own, which determine its other
   * bytes.
   */
  private static MemorySegment message(int sender, int number) {
    SplittableRandom random = new SplittableRandom(sender * 1_000_003L + number);
    byte[] bytes = new byte[8 + random.nextInt(random.nextInt(8) == 0 ? LONGEST : 100)];
    random.nextBytes(bytes);
    MemorySegment message = MemorySegment.ofArray(bytes);
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 0, sender);
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 4, number);
    return message;
  }

  /** Checks that each sender's messages arrive once, whole and in their order. */
  private static final class Checker implements MessageHandler {

    private final Map<Integer, Integer> next = new HashMap<>();
    private int count;
    private long bytes;

    @Override
    public void onMessage(MemorySegment buffer, long offset, int length) {
      assertThat((buffer.address() + offset) % Long.BYTES).as("alignment").isZero();
      int sender = buffer.get(ValueLayout.JAVA_INT, offset);
      int number = buffer.get(ValueLayout.JAVA_INT, offset + 4);
      assertThat(number).as("sender %d", sender).isEqualTo(next.getOrDefault(sender, 0));
      assertThat(buffer.asSlice(offset, length).mismatch(message(sender, number)))
          .as("message %d of sender %d", number, sender)
          .isEqualTo(-1);
      next.put(sender, number + 1);
      count++;
      bytes += length;
    }

    /** Receives messages, half of them in place, up to a total number. */
    void receiveUpTo(int total, Connection connection) {
      while (count < total) {
        if (count % 2 == 0) {
          connection.receiver().poll(this, total - count);
          idle();
        } else {
          try (ReceiveRegion message = connection.receiver().receive(PATIENCE)) {
            onMessage(message.buffer(), message.offset(), message.length());
          }
        }
      }
    }
  }

  /** Sends in each way: copies, claims, batches; and aborts. Returns the last id. */
  private static long sendMany(Sender sender, int me, int count) {
    SplittableRandom random = new SplittableRandom(me);
    long id = 0;
    for (int number = 0; number < count; number++) {
      MemorySegment message = message(me, number);
      long before = id;
      switch (random.nextInt(4)) {
        case 0 -> id = sender.send(message);
        case 1 -> id = sender.stage(message);
        case 2 -> id = written(sender, message).commit();
        default -> {
          SendRegion aborted = sender.tryClaim(random.nextInt(200));
          id = written(sender, message).stage();
          if (aborted != null) {
            aborted.abort();
          }
        }
      }
      assertThat(id).as("ids of one sender").isGreaterThan(before);
    }
    sender.flush();
    sender.await(id, PATIENCE);
    assertThat(sender.isComplete(id)).isTrue();
    return id;
  }

  private static SendRegion written(Sender sender, MemorySegment message) {
    SendRegion region = sender.claim((int) message.byteSize());
    region.segment().copyFrom(message);
    return region;
  }

  @ParameterizedTest
  @EnumSource
  void eachSendersMessagesArriveOnceWholeAndInTheirOrder(WaitStrategy wait) {
    Pair pair =
        connect(
            options()
                .set(StandardOptions.WAIT, wait)
                .set(StandardOptions.MAX_MESSAGE, (long) 2 * LONGEST));
    int each = provider.messages(20_000);
    List<Background<Boolean>> sending = new ArrayList<>();
    for (int i = 0; i < SENDERS; i++) {
      int me = i;
      Sender sender = me == 0 ? pair.client().sender() : pair.client().newSender();
      sending.add(inBackground("sender-" + me, () -> sendMany(sender, me, each) > 0));
    }

    Checker checker = new Checker();
    checker.receiveUpTo(SENDERS * each, pair.server());

    sending.forEach(Background::result);
    assertThat(pair.server().receiver().tryReceive()).isNull();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(SENDERS * each);
    assertThat(pair.client().counters().bytesSent()).isEqualTo(checker.bytes);
    assertThat(pair.server().counters().messagesReceived()).isEqualTo(SENDERS * each);
  }

  @Test
  void manyThreadsShareFewSendersThroughAQueue() throws Exception {
    Pair pair = connect();
    BlockingQueue<Sender> free = new ArrayBlockingQueue<>(2);
    free.add(pair.client().newSender());
    free.add(pair.client().newSender());
    int threads = provider.messages(200);
    List<Thread> sending = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int me = i;
      sending.add(
          Thread.startVirtualThread(() -> {
            Sender sender = take(free);
            sender.send(message(me, 0));
            free.add(sender);
          }));
    }

    new Checker().receiveUpTo(threads, pair.server());

    for (Thread thread : sending) {
      assertThat(thread.join(PATIENCE)).isTrue();
    }
  }

  private static Sender take(BlockingQueue<Sender> free) {
    try {
      return free.take();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aClosedSenderSendsWhatItHasStagedAndGivesItsClaimsBack() {
    Pair pair = connect();
    Sender sender = pair.client().newSender();
    sender.stage(message(0, 0));
    SendRegion claimed = sender.claim(10);

    sender.close();
    sender.close(); // again

    Checker checker = new Checker();
    checker.receiveUpTo(1, pair.server());
    assertThatThrownBy(() -> sender.send(message(0, 1))).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.tryClaim(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> claimed.commit()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(claimed::abort).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(sender::staged).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(sender::flush).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.isComplete(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.await(1)).isInstanceOf(IllegalStateException.class);
    pair.client().sender().send(message(1, 0));
    checker.receiveUpTo(2, pair.server());
    assertThat(pair.client().counters().messagesSent()).isEqualTo(2);
  }

  @Test
  void sendersThatAreClosedMakeRoomForOthersWithIdsOfTheirOwn() {
    Pair pair = connect();
    Checker checker = new Checker();
    int rounds = Math.max(100, provider.messages(1_000));
    for (int round = 0; round < rounds; round++) {
      try (Sender one = pair.client().newSender();
          Sender other = pair.client().newSender()) {
        long id = one.send(message(2 * round, 0));
        assertThat(id).as("the first id").isPositive();
        other.stage(message(2 * round + 1, 0));
        other.claim(round % 100);
        assertThatThrownBy(() -> one.isComplete(id + 1_000_000))
            .isInstanceOf(IllegalArgumentException.class);
      }
      checker.receiveUpTo(2 * (round + 1), pair.server());
    }
    assertThat(pair.client().counters().messagesSent()).isEqualTo(2L * rounds);
    assertThat(pair.client().counters().bytesSent()).isEqualTo(checker.bytes);
  }

  @Test
  void theMessagesEndWhenTheLastSenderIsClosedWhicheverItIs() {
    for (int last = 0; last < 3; last++) {
      Pair pair = connect();
      List<Sender> senders =
          List.of(pair.client().sender(), pair.client().newSender(), pair.client().newSender());
      for (int i = 0; i < senders.size(); i++) {
        senders.get(i).send(message(i, 0));
      }
      Checker checker = new Checker();
      for (int i = 0; i < senders.size(); i++) {
        if (i != last) {
          senders.get(i).close();
        }
      }
      checker.receiveUpTo(3, pair.server());
      assertThatThrownBy(() -> pair.server().receiver().receive(LASTING))
          .isInstanceOf(OperationTimeoutException.class);
      try (Sender further = pair.client().newSender()) { // as one is open
        further.send(message(3, 0));
      }
      senders.get(last).send(message(last, 1));
      senders.get(last).close();

      checker.receiveUpTo(5, pair.server());
      assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    }
  }

  @Test
  void noFurtherSenderIsOpenedAfterTheEnd() {
    Pair pair = connect();
    pair.client().newSender().close();
    pair.client().sender().close();

    assertThatThrownBy(pair.client()::newSender)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("all senders of this connection are closed");
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    pair.client().close();
    assertThatThrownBy(pair.client()::newSender).isInstanceOf(ConnectionClosedException.class);
  }

  @Test
  void theMessagesOfManyThreadsThatCloseTheirSendersArriveBeforeTheEnd() {
    int each = provider.messages(2_000);
    for (int round = 0; round < 5; round++) {
      Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) 2 * LONGEST));
      List<Sender> senders = new ArrayList<>(List.of(pair.client().sender()));
      while (senders.size() < SENDERS) {
        senders.add(pair.client().newSender());
      }
      List<Background<Boolean>> sending = new ArrayList<>();
      for (int i = 0; i < SENDERS; i++) {
        int me = i;
        Sender sender = senders.get(i);
        sending.add(
            inBackground(
                "sender-" + me,
                () -> {
                  for (int number = 0; number < each; number++) {
                    sender.stage(message(me, number));
                  }
                  sender.close();
                }));
      }
      Checker checker = new Checker();
      checker.receiveUpTo(SENDERS * each, pair.server());
      assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
      sending.forEach(Background::result);
    }
  }

  @Test
  void registeredMemoryBelongsToTheConnectionAndIsSentFromByAnySender() {
    Pair pair = connect();
    List<Sender> senders = List.of(pair.client().sender(), pair.client().newSender());
    Checker checker = new Checker();
    for (int round = 0; round < 20; round++) {
      MemorySegment memory = Arena.ofAuto().allocate(2L * LONGEST);
      try (RegisteredMemory registered = pair.client().register(memory)) {
        for (int i = 0; i < senders.size(); i++) {
          MemorySegment message = message(i, round);
          long offset = (long) i * LONGEST;
          MemorySegment.copy(message, 0, memory, offset, message.byteSize());
          senders.get(i).sendRegistered(registered, offset, (int) message.byteSize());
        }
      }
      memory.fill((byte) -1); // no send uses it any more
      checker.receiveUpTo(senders.size() * (round + 1), pair.server());
    }
  }

  @ParameterizedTest
  @EnumSource
  void closingTheConnectionEndsAllSendersThatWait(WaitStrategy wait) {
    Pair pair = connect(options().set(StandardOptions.WAIT, wait));
    List<Background<Throwable>> waiting = startWaiting(pair.client());
    pair.client().close();
    waiting.forEach(
        each -> assertThat(each.result()).isInstanceOf(ConnectionClosedException.class));
    assertThatThrownBy(pair.client()::newSender).isInstanceOf(ConnectionClosedException.class);
  }

  @ParameterizedTest
  @EnumSource
  void thePeersCloseEndsAllSendersThatWait(WaitStrategy wait) {
    Pair pair = connect(options().set(StandardOptions.WAIT, wait));
    List<Background<Throwable>> waiting = startWaiting(pair.client());
    pair.server().close();
    waiting.forEach(
        each -> assertThat(each.result()).isInstanceOf(ConnectionClosedException.class));
  }

  /** Starts senders that wait for room, as the peer receives nothing. */
  private List<Background<Throwable>> startWaiting(Connection connection) {
    List<Background<Throwable>> waiting = new ArrayList<>();
    for (int i = 0; i < SENDERS; i++) {
      Sender sender = i == 0 ? connection.sender() : connection.newSender();
      waiting.add(
          inBackground(
              "sender-" + i,
              () -> {
                try {
                  while (true) {
                    sender.send(MemorySegment.ofArray(new byte[KIB]));
                  }
                } catch (ConnectionClosedException e) {
                  return e;
                }
              }));
    }
    eventually("all wait", () -> connection.counters().backPressureStalls() >= SENDERS);
    return waiting;
  }
}
