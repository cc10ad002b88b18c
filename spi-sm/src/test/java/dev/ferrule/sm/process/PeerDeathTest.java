// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.Whole;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PeerDeathTest extends ProcessTest {

  private static final int SMALL = 4;

  /** Mostly longer than a live peer takes to answer; the tests pass if it is not. */
  private static final Duration LONG_ENOUGH = Duration.ofSeconds(1);

  private static ConnectionOptions options(WaitStrategy wait) {
    return ConnectionOptions.builder().set(StandardOptions.WAIT, wait).build();
  }

  /** Sends until there is no more room; returns when the sending thread waits. */
  private static CompletableFuture<Void> fill(Connection connection) throws Exception {
    CompletableFuture<Void> result =
        CompletableFuture.runAsync(() -> {
          while (true) {
            connection.sender().send(MemorySegment.ofArray(new byte[SMALL]));
          }
        });
    await(() -> connection.counters().backPressureStalls() > 0 || result.isDone());
    return result;
  }

  @ParameterizedTest
  @EnumSource(WaitStrategy.class)
  void shouldFailAWaitingReceiverWhenThePeerIsKilled(WaitStrategy wait) throws Exception {
    try (OtherProcess other = OtherProcess.start("listen", address(), "1");
        Connection connection = Ferrule.connect(URI.create(other.line()), options(wait))) {
      CompletableFuture<ReceiveRegion> receiving =
          CompletableFuture.supplyAsync(() -> connection.receiver().receive());
      assertThat(other.line()).isEqualTo("accepted");
      other.kill();

      assertThatThrownBy(() -> receiving.get(90, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining(connection.uri().toString())
          .hasMessageContaining("process has ended");
      assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
      assertThat(connection.failure()).isInstanceOf(PeerLostException.class);
    }
  }

  @ParameterizedTest
  @EnumSource(WaitStrategy.class)
  void shouldFailASenderThatWaitsAtAFullRingWhenThePeerIsKilled(WaitStrategy wait)
      throws Exception {
    try (OtherProcess other = OtherProcess.start("listen", address(), "1");
        Connection connection = Ferrule.connect(URI.create(other.line()), options(wait))) {
      CompletableFuture<Void> sending = fill(connection);
      assertThat(sending).isNotDone();
      other.kill();

      assertThatThrownBy(() -> sending.get(90, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(PeerLostException.class);
    }
  }

  @Test
  void shouldDeliverTheCompleteMessagesOfADeadPeerAndNoPartialOne() throws Exception {
    int count = 100;
    try (Listener listener = Ferrule.listen(URI.create(address()));
        OtherProcess other =
            OtherProcess.start("batch", listener.uri().toString(), String.valueOf(count));
        Connection connection = listener.accept()) {
      assertThat(other.line()).isEqualTo("in the middle");
      other.kill();
      for (int i = 0; i < count; i++) {
        try (ReceiveRegion message = connection.receiver().receive()) {
          assertThat(message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(i);
        }
      }
      assertThatThrownBy(() -> connection.receiver().receive())
          .isInstanceOf(PeerLostException.class);
    }
  }

  /** Whether the program receives before or after the death. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReportTheEndOfTheMessagesOfAPeerThatDiesAfterIt(boolean receivesBefore)
      throws Exception {
    int count = 100;
    try (Listener listener = Ferrule.listen(URI.create(address()));
        OtherProcess other =
            OtherProcess.start("end", listener.uri().toString(), String.valueOf(count));
        Connection connection = listener.accept()) {
      assertThat(other.line()).isEqualTo("ended");
      if (receivesBefore) {
        receiveToTheEnd(connection, count);
      }
      assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
      CompletableFuture<Connection> ended = new CompletableFuture<>();
      connection.onClose(ended::complete);
      other.kill();
      ended.get(90, TimeUnit.SECONDS);

      receiveToTheEnd(connection, receivesBefore ? 0 : count);
      assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
      assertThat(connection.failure()).isInstanceOf(PeerLostException.class);
      assertThatThrownBy(() -> connection.sender().claim(1)).isInstanceOf(PeerLostException.class);
    }
  }

  private static void receiveToTheEnd(Connection connection, int count) {
    for (int i = 0; i < count; i++) {
      try (ReceiveRegion message = connection.receiver().receive()) {
        assertThat(message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(i);
      }
    }
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> connection.receiver().receive())
          .isInstanceOf(EndOfStreamException.class);
      assertThatThrownBy(() -> connection.receiver().tryReceive())
          .isInstanceOf(EndOfStreamException.class);
      assertThatThrownBy(() -> connection.receiver().poll((buffer, offset, length) -> {}, 1))
          .isInstanceOf(EndOfStreamException.class);
    }
  }

  @Test
  void shouldLetEveryOtherProducerGoOnWhenOneDiesInTheMiddleOfASend() throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address()));
        OtherProcess dying = OtherProcess.start("batch", listener.uri().toString(), "10");
        Connection first = listener.accept();
        OtherProcess living = OtherProcess.start("send", listener.uri().toString(), "1000");
        Connection second = listener.accept()) {
      assertThat(dying.line()).isEqualTo("in the middle");
      dying.kill();
      for (int i = 0; i < 1000; i++) {
        try (ReceiveRegion message = second.receiver().receive()) {
          assertThat(message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(i);
        }
      }
      assertThat(living.line()).isEqualTo("sent");
      assertThat(second.state()).isEqualTo(ConnectionState.OPEN);
      await(() -> first.state() != ConnectionState.OPEN);
      assertThat(first.state()).isEqualTo(ConnectionState.FAILED);
    }
  }

  @Test
  void shouldTreatAProcessThatExitsWithoutClosingAsDeadAndFindNothingLeftOfIt() throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address()))) {
      try (OtherProcess other = OtherProcess.start("exit", listener.uri().toString());
          Connection connection = listener.accept()) {
        assertThat(other.line()).isEqualTo("sent");
        assertThat(other.exitCode()).isZero();
        try (ReceiveRegion message = connection.receiver().receive()) {
          assertThat(message.length()).isEqualTo(4);
        }
        assertThatThrownBy(() -> connection.receiver().receive())
            .isInstanceOf(PeerLostException.class);
        assertThat(other.endpoint(directory)).doesNotExist();
      }
    }
    assertThat(files()).isEmpty();
  }

  @Test
  void shouldFailAfterThePeerTimeoutWhenALivePeerDoesNotAnswer() throws Exception {
    ConnectionOptions impatient =
        ConnectionOptions.builder()
            .set(StandardOptions.PEER_TIMEOUT, Duration.ofMillis(400))
            .set(StandardOptions.WAIT, WaitStrategy.BLOCK)
            .build();
    try (OtherProcess other = OtherProcess.start("listen", address(), "1");
        Connection connection = Ferrule.connect(URI.create(other.line()), impatient)) {
      assertThat(other.line()).isEqualTo("accepted");
      other.stop();

      assertThatThrownBy(() -> connection.receiver().receive())
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining("400ms")
          .hasMessageContaining("peerTimeout");
      other.resume();
    }
  }

  @Test
  void aProcessThatWasStoppedForTooLongReceivesTheReasonAndTheTimeout() throws Exception {
    ConnectionOptions impatient =
        ConnectionOptions.builder().set(StandardOptions.PEER_TIMEOUT, LONG_ENOUGH).build();
    try (Listener listener = Ferrule.listen(URI.create(address()));
        OtherProcess other = OtherProcess.start("hear", listener.uri().toString())) {
      listener.accept().close();
      assertThat(other.line()).contains("EndOfStreamException", "closed by the peer");
    }
    try (Listener listener = Ferrule.listen(URI.create(address()), impatient);
        OtherProcess other = OtherProcess.start("hear", listener.uri().toString())) {
      Connection connection = listener.accept();
      other.stop();
      await(() -> connection.state() != ConnectionState.OPEN);
      connection.close(); // as any program does then, which must not hide the reason
      other.resume();
      assertThat(other.line())
          .contains("PeerLostException", "this process did not answer for 1s", "peerTimeout");
    }
  }

  /** A close as soon as the connection has ended must not hide the reason, either. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aStoppedProcessReceivesTheReasonEvenIfTheConnectionIsClosedAtOnce(boolean byCallback)
      throws Exception {
    ConnectionOptions impatient =
        ConnectionOptions.builder()
            .set(StandardOptions.PEER_TIMEOUT, LONG_ENOUGH)
            .set(StandardOptions.WAIT, WaitStrategy.SPIN)
            .build();
    try (Listener listener = Ferrule.listen(URI.create(address()), impatient);
        OtherProcess other = OtherProcess.start("hear", listener.uri().toString())) {
      Connection connection = listener.accept();
      if (byCallback) {
        connection.onClose(Connection::close);
      }
      Thread receiving =
          new Thread(() -> {
            try (connection) {
              connection.receiver().receive();
            } catch (FerruleException e) {
              return; // and closes
            }
          });
      other.stop();
      receiving.start();
      receiving.join();
      other.resume();
      assertThat(other.line())
          .contains("PeerLostException", "this process did not answer for 1s", "peerTimeout");
    }
  }

  @Whole("LinkStateTest: the same in simulated time")
  @Test
  void shouldKeepAnIdlePeerForManyPeerTimeouts() throws Exception {
    Duration timeout = Duration.ofSeconds(2);
    ConnectionOptions impatient =
        ConnectionOptions.builder().set(StandardOptions.PEER_TIMEOUT, timeout).build();
    try (OtherProcess other = OtherProcess.start("listen", address(), "1");
        Connection connection = Ferrule.connect(URI.create(other.line()), impatient)) {
      assertThat(other.line()).isEqualTo("accepted");

      Thread.sleep(timeout.multipliedBy(10)); // the elapsed time is part of the test

      assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }
  }
}
