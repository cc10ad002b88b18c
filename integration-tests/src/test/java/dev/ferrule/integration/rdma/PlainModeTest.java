// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages between Ferrule and a program without Ferrule, with {@code hello=off}. */
@SuppressWarnings("try") // closing early is what is tested
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlainModeTest {

  private static final String PLAIN = "?hello=off&credits=off&maxMessage=4KiB&receives=8";
  private static final int ROUNDS = 60; // more messages than either side has buffers

  private static void exchange(Connection connection, RawPeer peer) {
    for (int i = 0; i < ROUNDS; i++) {
      assertThat(peer.send(Numbered.message(i))).isEqualTo(CompletionStatus.SUCCESS);
      try (ReceiveRegion message = connection.receiver().receive(Task.PATIENCE)) {
        Numbered.check(message, i);
      }
      Numbered.send(connection.sender(), -i);
      RawPeer.Message answer = peer.receive();
      assertThat(answer.hasImmediate()).isFalse();
      Numbered.check(MemorySegment.ofArray(answer.bytes()), -i);
    }
    assertThat(peer.send(new byte[0])).isEqualTo(CompletionStatus.SUCCESS);
    try (ReceiveRegion message = connection.receiver().receive(Task.PATIENCE)) {
      assertThat(message.length()).isZero();
    }
    for (int i = 0; i < RawPeer.RECEIVES; i++) { // many at a time
      Numbered.send(connection.sender(), i);
    }
    for (int i = 0; i < RawPeer.RECEIVES; i++) {
      Numbered.check(MemorySegment.ofArray(peer.receive().bytes()), i);
    }
    assertThat(connection.peerPayload()).isEmpty();
    assertThatThrownBy(connection::rma)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("needs a handshake");
  }

  @Test
  void anyClientExchangesMessagesWithAPlainListener() {
    try (Listener listener = Wires.listen(PLAIN)) {
      Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
      try (RawPeer peer = RawPeer.connect(listener.uri().getPort(), new byte[0]);
          Connection connection = accepting.result()) {
        exchange(connection, peer);
        peer.disconnect();
        assertThatThrownBy(() -> connection.receiver().receive(Task.PATIENCE))
            .isInstanceOf(EndOfStreamException.class);
      }
    }
  }

  @Test
  void aPlainClientExchangesMessagesWithAnyServer() {
    try (RawPeer.RawListener listener = new RawPeer.RawListener()) {
      String patient = PLAIN + "&closeTimeout=120s";
      Task<Connection> connecting =
          Task.start(() -> Wires.connect(listener.address() + patient, ""));
      try (RawPeer peer = listener.accept(new byte[0]);
          Connection connection = connecting.result()) {
        exchange(connection, peer);
        Numbered.send(connection.sender(), 5);
        connection.close(); // flushes the message first
        Numbered.check(MemorySegment.ofArray(peer.receive().bytes()), 5);
        peer.awaitDisconnected();
      }
    }
  }

  /**
   * With librdmacm's RNR timer, 655 ms. The largest finite number of RNR retries, 6, would end
   * before the pause does.
   */
  @Test
  void aPeerThatPostsNoReceivesForSecondsIsNotConsideredDead() {
    int count = 20; // more than the receives
    String slow = PLAIN + "&minRnrTimer=0";
    try (Wires.Pair pair = Wires.pair(slow)) {
      Task<Void> sending =
          Task.start(() -> {
            for (int i = 0; i < count; i++) {
              Numbered.send(pair.client().sender(), i);
            }
            pair.client().sender().await(count, Task.PATIENCE);
            return null;
          });
      Task.pause(Duration.ofSeconds(7)); // the pause is the test
      assertThat(sending.isDone()).isFalse();
      for (int i = 0; i < count; i++) {
        try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
          Numbered.check(message, i);
        }
      }
      sending.result();
    }
  }

  @Test
  void aSenderWhosePeerAllowsNoRetriesFailsWithReceiverNotReady() {
    try (RawPeer.RawListener listener = new RawPeer.RawListener()) {
      Task<Connection> connecting = Task.start(() -> Wires.connect(listener.address() + PLAIN, ""));
      try (RawPeer peer = listener.accept(new byte[0], 0);
          Connection connection = connecting.result()) {
        assertThat(peer.answer().type()).isEqualTo(CmEvent.Type.ESTABLISHED);
        assertThatThrownBy(
                () -> {
                  for (int i = 0; i <= RawPeer.RECEIVES; i++) { // one more than there are
                    connection.sender().await(Numbered.send(connection.sender(), i));
                  }
                })
            .isInstanceOf(PeerLostException.class)
            .hasMessageContaining("rnrRetry");
      }
    }
  }

  @Test
  void aPlainListenerAcceptsUnknownPrivateData() {
    try (Listener listener = Wires.listen(PLAIN)) {
      Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
      try (RawPeer peer = RawPeer.connect(listener.uri().getPort(), new byte[] {1, 2, 3});
          Connection connection = accepting.result()) {
        exchange(connection, peer);
      }
    }
  }

  /** Neither side knows the other's maxMessage. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aProgramThatDoesNotReceiveIsInformedThatAMessageWasTooLong(boolean sending) {
    try (Listener listener = Wires.listen("?hello=off&credits=off&maxMessage=64");
        Wires.Pair pair = Wires.pair(listener, "?hello=off&credits=off&maxMessage=1KiB")) {
      pair.client().sender().send(MemorySegment.ofArray(new byte[1024]));

      NeverReceives.assertViolationReported(
          pair.server(), sending, "longer than this side's maxMessage");
    }
  }
}
