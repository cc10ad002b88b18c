// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.verbs.cm.CmEvent;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The tests of a hostile peer, which here shares the receive buffers with conforming peers. */
class HostilePeerOfSharedReceivesTest extends HostilePeerTest {

  /** Enough for the first connection to have as much credit as without sharing. */
  private static final int BUFFERS = 192;

  private static final String SHARED = "?srq=on&maxMessage=4KiB&receives=" + BUFFERS;

  @Override
  String listenQuery() {
    return SHARED;
  }

  private static byte[] hello(boolean credits) {
    Offer offer = new Offer(credits, 4096, 8);
    return Offer.HELLO.encode(Hello.Kind.CONNECT, 0, offer.body(), new byte[0]);
  }

  /** Both ends of a connection. */
  private record Ends(RawPeer peer, Connection connection) implements AutoCloseable {
    @Override
    public void close() {
      connection.close();
      peer.close();
    }
  }

  /** Connects a hostile peer, see {@link Wires#pairOnceThereAreBuffers}. */
  private static Ends connectOnceThereAreBuffers(Listener listener) {
    long deadline = System.nanoTime() + Task.PATIENCE.toNanos();
    while (true) {
      Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
      RawPeer peer = RawPeer.connect(listener.uri().getPort(), hello(true));
      if (peer.answer().type() == CmEvent.Type.ESTABLISHED) {
        return new Ends(peer, accepting.result());
      }
      peer.close();
      assertThat(accepting.failure()).isInstanceOf(ResourceExhaustedException.class);
      assertThat(System.nanoTime()).as("buffers are available in time").isLessThan(deadline);
    }
  }

  /** After the end of a connection, its buffers must be available to the next one. */
  private static void expectAllBuffers(Listener listener) {
    try (Wires.Pair pair = Wires.pairOnceThereAreBuffers(listener, "?maxMessage=4KiB&receives=8")) {
      for (int i = 0; i < 3 * BUFFERS; i++) {
        Numbered.send(pair.client().sender(), i);
        try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
          Numbered.check(message, i);
        }
      }
    }
  }

  @Test
  void theBuffersOfBrokenConnectionsAreReleased() {
    try (Listener listener = Wires.listen(SHARED)) {
      for (int i = 0; i < BUFFERS + 8; i++) {
        try (Ends ends = connectOnceThereAreBuffers(listener)) {
          Connection connection = ends.connection();
          ends.peer()
              .send(new byte[10], Immediate.of(i % 2 == 0 ? 7 : Immediate.MESSAGE, 60_000, 0));
          assertThat(Task.start(() -> connection.receiver().receive()).failure())
              .hasMessageContaining("protocol violation");
        }
      }
      expectAllBuffers(listener);
    }
  }

  /**
   * The completions of such a peer are in the queue of all connections, so the receiver of any
   * other connection finds them, ends the connection and reposts its buffers. None is lost, as the
   * queue has an entry for each buffer.
   */
  @Test
  void aPeerThatFillsAllBuffersDoesNotWithholdThemFromOthers() {
    try (Listener listener = Wires.listen(SHARED);
        Wires.Pair pair = Wires.pairOnceThereAreBuffers(listener, "?maxMessage=4KiB&receives=8")) {
      for (int round = 0; round < 3; round++) {
        try (Ends ends = connectOnceThereAreBuffers(listener)) {
          Connection connection = ends.connection();
          for (int i = 0; i < BUFFERS; i++) {
            ends.peer().send(new byte[10], Immediate.of(Immediate.MESSAGE, 8, 0));
          }
          Numbered.send(pair.client().sender(), round);
          try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
            Numbered.check(message, round);
          }
          // another thread may have found the violation, and be about to end the connection
          Task.await("the connection ends", () -> connection.failure() != null);
          assertThat(connection.failure()).hasMessageContaining("more messages than it had credit");
        }
      }
      expectAllBuffers(listener);
    }
  }

  @Test
  void theBuffersOfConnectionsThatBothSidesCloseConcurrentlyAreReleased() {
    try (Listener listener = Wires.listen(SHARED)) {
      for (int i = 0; i < BUFFERS + 8; i++) {
        try (Wires.Pair pair =
            Wires.pairOnceThereAreBuffers(listener, "?maxMessage=4KiB&receives=8")) {
          Numbered.send(pair.client().sender(), 0);
          Numbered.send(pair.client().sender(), 1);
          ReceiveRegion held = pair.server().receiver().receive(Task.PATIENCE);
          Task<Void> closing =
              Task.start(() -> {
                pair.client().close();
                return null;
              });
          pair.server().close();
          closing.result();
          held.close();
        }
      }
      expectAllBuffers(listener);
    }
  }

  @Test
  void aClientWithoutCreditsIsRefusedIfTheBuffersAreShared() {
    try (Listener listener = Wires.listen(SHARED);
        RawPeer peer = RawPeer.connect(listener.uri().getPort(), hello(false))) {
      assertThat(peer.answer().type()).isEqualTo(CmEvent.Type.REJECTED);
      Hello refusal = Offer.HELLO.decode(peer.answer().privateData()).orElseThrow();
      assertThat(new String(refusal.payload(), StandardCharsets.UTF_8))
          .contains("requires clients to use credits");
    }
  }
}
