// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Counters: exact to the message and the byte, and readable after the close. */
public abstract class CountersContract extends Contract {

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected CountersContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  void aNewConnectionHasCountedNothing() {
    Pair pair = connect();

    for (ConnectionCounters counters :
        new ConnectionCounters[] {pair.client().counters(), pair.server().counters()}) {
      assertThat(counters.messagesSent()).isZero();
      assertThat(counters.bytesSent()).isZero();
      assertThat(counters.messagesReceived()).isZero();
      assertThat(counters.bytesReceived()).isZero();
      assertThat(counters.backPressureStalls()).isZero();
    }
  }

  @Test
  void aCounterThatTheTransportCannotMaintainIsAbsentAndNotZero() {
    Pair pair = connect(options().set(StandardOptions.WAIT, WaitStrategy.BLOCK));
    assertAbsent(pair);

    for (int i = 0; i < 3; i++) {
      Background<Boolean> receiving =
          inBackground("receiver", () -> pair.server().receiver().receive(PATIENCE).close());
      receiving.awaitInside("receive");
      pair.client().sender().send(MemorySegment.ofArray(new byte[10]));
      receiving.result();
    }
    assertAbsent(pair);

    pair.client().close();
    pair.server().close();
    assertAbsent(pair);
  }

  private void assertAbsent(Pair pair) {
    for (ConnectionCounters counters :
        new ConnectionCounters[] {pair.client().counters(), pair.server().counters()}) {
      Set<String> absent = new HashSet<>();
      if (counters.retransmissions().isEmpty()) {
        absent.add("retransmissions");
      }
      if (counters.wakeupsSent().isEmpty()) {
        absent.add("wakeupsSent");
      }
      assertThat(absent).isEqualTo(provider.notCounted());
    }
  }

  @Test
  void everyWayOfSendingCountsMessagesAndBytes() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MemorySegment memory = Arena.ofAuto().allocate(100);
    RegisteredMemory registered = pair.client().register(memory);

    sender.send(MemorySegment.ofArray(new byte[10]));
    assertSent(pair, 1, 10);
    sender.send(memory, 0, 20);
    assertSent(pair, 2, 30);
    sender.claim(30).commit();
    assertSent(pair, 3, 60);
    sender.claim(30).commit(5);
    assertSent(pair, 4, 65);
    sender.sendRegistered(registered, 10, 40);
    assertSent(pair, 5, 105);
    sender.send(MemorySegment.ofArray(new byte[0]));
    assertSent(pair, 6, 105);
    sender.claim(7).stage();
    sender.claim(7).stage(3);
    sender.flush();
    assertSent(pair, 8, 115);
    sender.claim(50).abort();
    assertSent(pair, 8, 115);
    assertThat(pair.server().counters().messagesSent()).isZero();
  }

  @Test
  void everyWayOfReceivingCountsMessagesAndBytes() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLengths(10, 20, 0, 30);
    NumberedSender sender = new NumberedSender(pair.client(), stream, 30);
    for (int i = 0; i < 4; i++) {
      sender.send(NumberedSender.Way.CLAIM);
    }
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    receiver.receive(NumberedReceiver.Way.RECEIVE);
    assertReceived(pair, 1, 10);
    receiver.receive(NumberedReceiver.Way.TRY_RECEIVE);
    assertReceived(pair, 2, 30);
    receiver.receive(NumberedReceiver.Way.POLL);
    assertReceived(pair, 3, 30);
    receiver.receive(NumberedReceiver.Way.RECEIVE_WITH_TIMEOUT);
    assertReceived(pair, 4, 60);
    assertThat(pair.client().counters().messagesReceived()).isZero();
  }

  @Test
  void bothSidesAgreeAfterManyMessages() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofRandomLengths(1, KIB);
    int messages = provider.messages(50_000);
    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              NumberedSender sender = new NumberedSender(pair.client(), stream, KIB);
              while (sender.count() < messages) {
                sender.send(NumberedSender.Way.CLAIM);
              }
            });
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(messages, NumberedReceiver.Way.RECEIVE);
    sending.result();

    long bytes = 0;
    for (int number = 0; number < messages; number++) {
      bytes += stream.length(number);
    }
    assertSent(pair, messages, bytes);
    assertReceived(pair, messages, bytes);
  }

  @Test
  void backPressureIsCounted() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofLength(500);
    long sent = 0;
    for (int attempts = 1; attempts <= 3; attempts++) { // attempts that return null
      SendRegion region = sender.tryClaim(500);
      while (region != null) {
        send(sender, region, stream, sent++);
        region = sender.tryClaim(500);
      }
      assertThat(stalls(pair.client())).isEqualTo(attempts);
    }

    long filled = sent;
    Background<Long> sending =
        inBackground(
            "sender",
            () -> {
              long number = filled;
              while (stalls(pair.client()) == 3) { // until a claim has waited
                claimAndSend(sender, stream, number++);
              }
              return number;
            });
    eventually("a claim finds no space", () -> stalls(pair.client()) > 3);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(filled + 1, NumberedReceiver.Way.RECEIVE);
    receiver.receiveUpTo(sending.result(), NumberedReceiver.Way.RECEIVE);
    assertThat(stalls(pair.client())).isEqualTo(4);
    assertThat(stalls(pair.server())).isZero();
  }

  @Test
  void withoutBackPressureNoneIsCounted() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(20);
    NumberedSender sender = new NumberedSender(pair.client(), stream, 20);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    for (int i = 0; i < provider.messagesWithoutBackPressure(); i++) {
      sender.send(NumberedSender.Way.CLAIM);
      pair.client().sender().await(i + 1);
      receiver.receive(NumberedReceiver.Way.RECEIVE);
    }

    assertThat(pair.client().counters().backPressureStalls()).isZero();
  }

  @Test
  void everyWakeUpIsCounted() {
    Pair pair = connect(options().set(StandardOptions.WAIT, WaitStrategy.BLOCK));
    MessageStream stream = MessageStream.ofLength(20);
    NumberedSender sender = new NumberedSender(pair.client(), stream, 20);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    eventually( // a message may arrive before the receiver sleeps
        "a wake-up is counted",
        () -> {
          Background<Boolean> receiving =
              inBackground("receiver", () -> receiver.receive(NumberedReceiver.Way.RECEIVE));
          receiving.awaitInside("receive");
          sender.send(NumberedSender.Way.CLAIM);
          receiving.result();
          return pair.server().counters().wakeupsReceived() > 0
              && (provider.notCounted().contains("wakeupsSent")
                  || pair.client().counters().wakeupsSent().orElseThrow() > 0);
        });
  }

  @Test
  void aSpinningReceiverIsNotWokenUp() {
    Pair pair = connect(options().set(StandardOptions.WAIT, WaitStrategy.SPIN));
    MessageStream stream = MessageStream.ofLength(20);
    NumberedSender sender = new NumberedSender(pair.client(), stream, 20);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    for (int i = 0; i < 3; i++) {
      Background<Boolean> receiving =
          inBackground("receiver", () -> receiver.receive(NumberedReceiver.Way.RECEIVE));
      receiving.awaitInside("receive");
      sender.send(NumberedSender.Way.CLAIM);
      receiving.result();
    }

    assertThat(pair.client().counters().wakeupsSent().orElse(0)).isZero();
    assertThat(pair.server().counters().wakeupsReceived()).isZero();
  }

  @Test
  void countersNeverDecreaseAndSnapshotsDoNotChange() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    sender.send(MemorySegment.ofArray(new byte[10]));
    ConnectionCounters snapshot = pair.client().counters();
    sender.send(MemorySegment.ofArray(new byte[10]));

    assertThat(snapshot.messagesSent()).isEqualTo(1);
    assertThat(pair.client().counters().messagesSent()).isEqualTo(2);
  }

  @Test
  void anyThreadMayReadTheCountersConcurrently() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(100);
    int messages = provider.messages(50_000);
    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              NumberedSender sender = new NumberedSender(pair.client(), stream, 100);
              NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
              while (sender.count() < messages) {
                sender.send(NumberedSender.Way.CLAIM);
                receiver.receive(NumberedReceiver.Way.RECEIVE);
              }
            });

    long sent = 0;
    long received = 0;
    while (!sending.isDone()) {
      long nowReceived = pair.server().counters().messagesReceived();
      long nowSent = pair.client().counters().messagesSent();
      assertThat(nowSent).isBetween(sent, (long) messages);
      assertThat(nowReceived).isBetween(received, (long) messages);
      sent = nowSent;
      received = nowReceived;
      idle();
    }
    sending.result();
    eventually(
        "the last message is counted",
        () -> pair.server().counters().messagesReceived() == messages);
  }

  @Test
  void countersSurviveTheClose() {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray(new byte[10]));
    pair.server().receiver().receive(PATIENCE).close();

    pair.client().close();
    pair.server().close();

    assertSent(pair, 1, 10);
    assertReceived(pair, 1, 10);
  }

  private static long stalls(Connection connection) {
    return connection.counters().backPressureStalls();
  }

  private static void assertSent(Pair pair, long messages, long bytes) {
    ConnectionCounters counters = pair.client().counters();
    assertThat(counters.messagesSent()).as("messages sent").isEqualTo(messages);
    assertThat(counters.bytesSent()).as("bytes sent").isEqualTo(bytes);
  }

  private static void assertReceived(Pair pair, long messages, long bytes) {
    ConnectionCounters counters = pair.server().counters();
    assertThat(counters.messagesReceived()).as("messages received").isEqualTo(messages);
    assertThat(counters.bytesReceived()).as("bytes received").isEqualTo(bytes);
  }
}
