// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The end of the messages of one side, by the close of its senders, while the connection stays open
 * (half-close).
 */
public abstract class EndOfStreamContract extends Contract {

  private static final MessageStream STREAM = MessageStream.ofRandomLengths(3, KIB);

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected EndOfStreamContract(ProviderUnderTest provider) {
    super(provider);
  }

  @ParameterizedTest
  @EnumSource
  void theEndIsReportedAfterAllMessages(NumberedReceiver.Way way) {
    Pair pair = connect();
    long sent = sendUntilBackPressure(pair.client().sender(), STREAM, 0);

    pair.client().sender().close();

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receiveUpTo(sent, way);
    assertEndOfStream(() -> receiver.receive(way));
    assertEveryMethodReportsTheEnd(pair.server());
    assertThat(pair.client().state()).isEqualTo(ConnectionState.OPEN);
    assertThat(pair.server().state()).isEqualTo(ConnectionState.OPEN);
    assertThat(pair.server().failure()).isNull();
  }

  private static void assertEveryMethodReportsTheEnd(Connection connection) {
    Receiver receiver = connection.receiver();
    for (int i = 0; i < 2; i++) {
      assertEndOfStream(receiver::receive);
      assertEndOfStream(() -> receiver.receive(PATIENCE));
      assertEndOfStream(() -> receiver.receive(Duration.ZERO));
      assertEndOfStream(receiver::tryReceive);
      assertEndOfStream(() -> receiver.poll((buffer, offset, length) -> {}, 1));
    }
  }

  @Test
  void aStreamWithoutMessagesEnds() {
    Pair pair = connect();
    pair.client().sender().close();
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    assertThatThrownBy(() -> pair.server().receiver().receive(PATIENCE))
        .isInstanceOf(EndOfStreamException.class)
        .hasMessageContaining("the peer has closed its senders");
  }

  @ParameterizedTest
  @EnumSource
  void theEndEndsACallThatWaitsForAMessage(WaitStrategy strategy) {
    for (boolean timed : new boolean[] {false, true}) {
      Pair pair =
          connect(
              options()
                  .set(StandardOptions.WAIT, strategy)
                  .set(StandardOptions.PEER_TIMEOUT, Duration.ZERO)); // keepalives wake as well
      Receiver receiver = pair.server().receiver();
      Background<Boolean> waiting =
          inBackground(
              "receiver",
              () ->
                  assertEndOfStream(() -> {
                    if (timed) {
                      receiver.receive(Duration.ofHours(1));
                    } else {
                      receiver.receive();
                    }
                  }));
      waiting.awaitInside("receive");

      pair.client().sender().close();

      waiting.result();
    }
  }

  @Test
  void aReceiverThatNeverWaitsFindsTheEnd() {
    for (boolean polls : new boolean[] {false, true}) {
      Pair pair = connect();
      Receiver receiver = pair.server().receiver();
      assertThat(receiver.tryReceive()).isNull();

      pair.client().sender().close();

      eventually(
          "the end is found",
          () -> {
            try {
              boolean nothing =
                  polls
                      ? receiver.poll((buffer, offset, length) -> {}, 1) == 0
                      : receiver.tryReceive() == null;
              assertThat(nothing).isTrue();
              return false;
            } catch (EndOfStreamException e) {
              return true;
            }
          });
    }
  }

  @ParameterizedTest
  @EnumSource
  void answersArriveAfterTheEnd(NumberedReceiver.Way way) {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray(new byte[5]));
    pair.client().sender().close();
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(5);
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    int messages = provider.messages(5_000); // enough for room to be returned many times
    Background<Boolean> answering =
        inBackground(
            "server",
            () -> {
              for (int i = 0; i < messages; i++) {
                claimAndSend(pair.server().sender(), STREAM, i);
              }
            });

    NumberedReceiver receiver = new NumberedReceiver(pair.client(), STREAM);
    receiver.receiveUpTo(messages, way);

    answering.result();
    receiver.expectNoMore();
    assertEndOfStream(pair.server().receiver()::tryReceive);
  }

  @Test
  void bothSidesEndAndThenClose() {
    Pair pair = connect();
    AtomicInteger closes = new AtomicInteger();
    pair.client().onClose(connection -> closes.incrementAndGet());
    pair.server().onClose(connection -> closes.incrementAndGet());
    for (Connection each : List.of(pair.client(), pair.server())) {
      each.sender().send(MemorySegment.ofArray(new byte[1]));
      each.sender().close();
    }
    for (Connection each : List.of(pair.client(), pair.server())) {
      each.receiver().receive(PATIENCE).close();
      assertEndOfStream(() -> each.receiver().receive(PATIENCE));
      assertThat(each.state()).isEqualTo(ConnectionState.OPEN);
    }
    assertThat(closes).hasValue(0);

    pair.client().close();

    eventually("both have ended", () -> closes.get() == 2);
    assertThat(pair.server().state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    assertClosed(() -> pair.client().receiver().receive(PATIENCE));
    for (Connection each : List.of(pair.client(), pair.server())) { // their senders were closed
      assertThatThrownBy(() -> each.sender().claim(1)).isInstanceOf(IllegalStateException.class);
    }
    pair.server().close();
    assertThatThrownBy(() -> pair.server().receiver().receive(PATIENCE))
        .isNotInstanceOf(EndOfStreamException.class);
  }

  @Test
  void closingTheConnectionRightAfterTheEndLosesNothing() {
    for (int round = 0; round < 20; round++) {
      Pair pair = connect(options().set(StandardOptions.CLOSE_TIMEOUT, PATIENCE));
      long sent = sendUntilBackPressure(pair.client().sender(), STREAM, 0);
      pair.client().sender().close();
      pair.client().close();
      NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
      receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
      assertEveryMethodReportsTheEnd(pair.server());
      eventually(
          "the close is detected", () -> pair.server().state() == ConnectionState.CLOSED_BY_PEER);
      assertEveryMethodReportsTheEnd(pair.server());
    }
  }

  @Test
  void theCloseSendsWhatIsStagedAndGivesClaimsBack() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    RegisteredMemory memory = pair.client().register(Arena.ofAuto().allocate(100));
    sender.stage(MemorySegment.ofArray(new byte[1]));
    SendRegion staged = sender.claim(2);
    staged.stage();
    List<SendRegion> claimed = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      claimed.add(sender.claim(100));
    }
    sender.stageRegistered(memory, 0, 100);

    sender.close();
    sender.close(); // again

    for (int length : new int[] {1, 2, 100}) {
      try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.length()).isEqualTo(length);
      }
    }
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    for (SendRegion each : claimed) {
      assertThatThrownBy(each::abort).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> each.commit()).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> each.stage()).isInstanceOf(IllegalStateException.class);
    }
    MemorySegment message = MemorySegment.ofArray(new byte[1]);
    assertThatThrownBy(() -> sender.send(message)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.stage(message)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.claim(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.claim(1, PATIENCE)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.tryClaim(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.stageRegistered(memory, 0, 1))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(sender::flush).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(sender::staged).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.isComplete(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.await(1)).isInstanceOf(IllegalStateException.class);
    memory.close();
    pair.server().close();
    eventually(
        "the close is detected", () -> pair.client().state() == ConnectionState.CLOSED_BY_PEER);
    assertThatThrownBy(() -> sender.send(message)).isInstanceOf(IllegalStateException.class);
    pair.client().close();
    assertThatThrownBy(() -> sender.send(message)).isInstanceOf(IllegalStateException.class);
    sender.close(); // does nothing
  }

  @Test
  void theCloseDoesNotWaitForRoom() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    long sent = sendUntilBackPressure(sender, STREAM, 0);
    SendRegion claimed = sender.tryClaim(0); // there may be room for it again

    sender.close(); // returns, although the peer receives nothing

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
    assertEndOfStream(() -> receiver.receive(NumberedReceiver.Way.RECEIVE));
    assertThat(claimed == null || claimed.length() == 0).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void aThreadThatWaitsToReceiveOnTheSideThatEndsIsNotDisturbed(WaitStrategy strategy) {
    Pair pair = connect(options().set(StandardOptions.WAIT, strategy));
    Background<Integer> waiting =
        inBackground("receiver", () -> pair.client().receiver().receive().length());
    waiting.awaitInside("receive");

    pair.client().sender().close();
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    assertThat(waiting.isDone()).isFalse();
    pair.server().sender().send(MemorySegment.ofArray(new byte[7]));

    assertThat(waiting.result()).isEqualTo(7);
  }

  @Test
  void aPeerThatWaitsForRoomIsNotDisturbedAndReceivesTheEndAfterwards() {
    Pair pair = connect();
    SendLoop calls =
        new SendLoop(
            pair.server(), 0, number -> claimAndSend(pair.server().sender(), STREAM, number));
    Background<Boolean> sending = inBackground("server", calls::call);
    calls.awaitBlocked();
    long before = calls.count();

    pair.client().sender().close();
    NumberedReceiver receiver = new NumberedReceiver(pair.client(), STREAM);
    receiver.receiveUpTo(before + 1, NumberedReceiver.Way.RECEIVE);
    calls.stop();
    while (!sending.isDone() || receiver.count() < calls.count()) {
      if (receiver.poll(1) == 0) {
        idle();
      }
    }

    sending.result();
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
  }

  @Test
  void messagesAreHeldBeyondTheEnd() {
    Pair pair = connect();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    for (int i = 0; i < 5; i++) {
      claimAndSend(pair.client().sender(), STREAM, i);
    }
    List<ReceiveRegion> held = new ArrayList<>();
    pair.client().sender().close();
    for (int i = 0; i < 5; i++) {
      held.add(receiver.hold(NumberedReceiver.Way.RECEIVE));
    }
    assertEndOfStream(() -> receiver.receive(NumberedReceiver.Way.RECEIVE));

    for (int i = 4; i >= 0; i--) {
      ReceiveRegion message = held.get(i);
      STREAM.verify(message.buffer(), message.offset(), message.length(), i);
      receiver.free(message);
    }
    assertEveryMethodReportsTheEnd(pair.server());
  }

  @Test
  void anOpenSenderIsNoEnd() {
    Pair pair = connect();
    pair.server().sender().close(); // the other direction
    pair.client().sender().send(MemorySegment.ofArray(new byte[1]));
    pair.server().receiver().receive(PATIENCE).close();
    assertThatThrownBy(() -> pair.server().receiver().receive(LASTING))
        .isInstanceOf(OperationTimeoutException.class);
    assertThat(pair.server().receiver().tryReceive()).isNull();
  }
}
