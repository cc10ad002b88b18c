// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.ExposedMemory;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaRight;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.support.RmaKey;
import dev.ferrule.verbs.CompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Peers that misuse remote memory access. The offsets are those of the table described in
 * docs/protocol-rma.md.
 */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileAccessPeerTest {

  private static final int SIZE = 4096;
  private static final int ENTRY = 32;
  private static final int IN_USE = 8192;
  private static final int TABLE = 12_288;

  private Listener listener;
  private Connection other; // a conforming connection
  private Connection otherClient;

  @BeforeEach
  void listen() {
    listener = Wires.listen("?receives=8&maxMessage=4KiB&closeTimeout=500ms");
    Wires.Pair pair = Wires.pair(listener, "");
    other = pair.server();
    otherClient = pair.client();
  }

  @AfterEach
  void close() {
    try {
      Numbered.send(otherClient.sender(), 1);
      try (ReceiveRegion message = other.receiver().receive(Task.PATIENCE)) {
        Numbered.check(message, 1);
      }
    } finally {
      otherClient.close();
      other.close();
      listener.close();
    }
  }

  /**
   * Runs a test with a client whose table is the memory of {@link RawPeer#ring}, to which the test
   * can write anything.
   */
  private void withClient(BiConsumer<RawPeer, Connection> test) {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    Offer offer = new Offer(true, SIZE, 8);
    try (RawPeer peer =
            RawPeer.connect(
                listener.uri().getPort(),
                key -> Offer.HELLO.encode(Hello.Kind.CONNECT, key, offer.body(), new byte[0]));
        Connection connection = accepting.result()) {
      test.accept(peer, connection);
    }
  }

  private static MemorySegment memory() {
    return Arena.ofAuto().allocate(SIZE, 1 << 16);
  }

  private static int tableKey(RawPeer peer) {
    return Offer.HELLO.decode(peer.answer().privateData()).orElseThrow().accessTable();
  }

  private static int remoteKey(ExposedMemory exposed) {
    return RmaKey.decode(exposed.handle()).orElseThrow().key();
  }

  private static void awaitEnd(Connection connection) {
    Task.await("the connection ends", () -> connection.state() != ConnectionState.OPEN);
    assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
  }

  @Test
  void memoryNotExposedForWritesCannotBeWrittenWithAnyKey() {
    withClient((peer, connection) -> {
      MemorySegment memory = memory();
      ExposedMemory exposed = connection.rma().expose(memory, RmaRight.READ);

      assertThat(peer.write(new byte[] {1}, 0, remoteKey(exposed))).isIn(RawPeer.REFUSED);

      awaitEnd(connection);
      assertThat(memory.mismatch(memory())).isEqualTo(-1);
    });
  }

  @Test
  void memoryNotExposedForAtomicOperationsCannotBeChangedByThem() {
    withClient((peer, connection) -> {
      MemorySegment memory = memory();
      ExposedMemory atomic = connection.rma().expose(memory, RmaRight.ATOMIC);
      assertThat(peer.add(3, 8, remoteKey(atomic))).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(3);
      memory.fill((byte) 0);
      ExposedMemory exposed = connection.rma().expose(memory, RmaRight.READ, RmaRight.WRITE);

      assertThat(peer.add(3, 8, remoteKey(exposed))).isIn(RawPeer.REFUSED);

      awaitEnd(connection);
      assertThat(memory.mismatch(memory())).isEqualTo(-1);
    });
  }

  @Test
  void nothingIsWrittenOutsideExposedMemory() {
    withClient((peer, connection) -> {
      MemorySegment memory = memory();
      ExposedMemory exposed = connection.rma().expose(memory.asSlice(0, SIZE / 2), RmaRight.WRITE);

      assertThat(peer.write(new byte[16], SIZE / 2 - 15, remoteKey(exposed))).isIn(RawPeer.REFUSED);

      awaitEnd(connection);
      assertThat(memory.mismatch(memory())).isEqualTo(-1);
    });
  }

  @Test
  void revokedMemoryCannotBeWritten() {
    withClient((peer, connection) -> {
      MemorySegment memory = memory();
      ExposedMemory exposed = connection.rma().expose(memory, RmaRight.WRITE);
      assertThat(peer.write(new byte[] {7}, 5, remoteKey(exposed)))
          .isEqualTo(CompletionStatus.SUCCESS);
      assertThat(memory.get(ValueLayout.JAVA_BYTE, 5)).isEqualTo((byte) 7);
      exposed.close();
      memory.fill((byte) 0);

      assertThat(peer.write(new byte[] {1}, 0, remoteKey(exposed))).isIn(RawPeer.REFUSED);

      awaitEnd(connection);
      assertThat(memory.mismatch(memory())).isEqualTo(-1);
    });
  }

  @Test
  void aPeerThatNeverEndsItsAccessDoesNotPreventTheRevocation() {
    withClient((peer, connection) -> {
      ExposedMemory exposed = connection.rma().expose(memory(), RmaRight.WRITE);
      int id = RmaKey.decode(exposed.handle()).orElseThrow().id();
      peer.ring().set(ValueLayout.JAVA_INT, IN_USE + 4L * id, 1);

      exposed.close();

      assertThat(connection.failure())
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining("accessed the memory for longer");
    });
  }

  @Test
  void aPeerThatExposesMissingMemoryEndsItsOwnConnection() {
    withClient((peer, connection) -> {
      RmaKey key = new RmaKey(3, 77, SIZE, Set.of(RmaRight.WRITE), 0x0bad_cafe);
      MemorySegment entry = Arena.ofAuto().allocate(ENTRY);
      entry.set(ValueLayout.JAVA_LONG, 0, key.generation());
      entry.set(ValueLayout.JAVA_LONG, 8, key.length());
      entry.set(ValueLayout.JAVA_INT, 16, key.key());
      entry.set(ValueLayout.JAVA_INT, 20, RmaKey.bits(key.rights()));
      assertThat(peer.write(entry.toArray(ValueLayout.JAVA_BYTE), 3L * ENTRY, tableKey(peer)))
          .isEqualTo(CompletionStatus.SUCCESS);
      Rma rma = connection.rma();
      RemoteMemory remote = rma.attach(key.encode());
      RegisteredMemory local = connection.register(memory());

      assertThatThrownBy(() -> rma.await(rma.write(local, 0, remote, 0, 1)))
          .isInstanceOf(FerruleException.class);

      awaitEnd(connection);
    });
  }

  @Test
  void overwritingTheTableDisturbsNoOtherConnection() {
    withClient((peer, connection) -> {
      ExposedMemory exposed = connection.rma().expose(memory(), RmaRight.values());
      byte[] noise = new byte[TABLE];
      for (int i = 0; i < noise.length; i++) {
        noise[i] = (byte) (i * 7 + 1);
      }
      assertThat(peer.write(noise, 0, tableKey(peer))).isEqualTo(CompletionStatus.SUCCESS);

      assertThatThrownBy(() -> connection.rma().attach(exposed.handle()))
          .isInstanceOf(RemoteAccessException.class);
      exposed.close();
      assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    });
  }

  @Test
  void accessesBeyondTheTableAreRefused() {
    withClient((peer, connection) -> {
      assertThat(peer.write(new byte[2], TABLE - 1, tableKey(peer))).isIn(RawPeer.REFUSED);

      awaitEnd(connection);
    });
  }

  @Test
  void aPeerWithoutATableHasNoRemoteMemoryAccess() {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    Offer offer = new Offer(true, SIZE, 8);
    byte[] hello = Offer.HELLO.encode(Hello.Kind.CONNECT, 0, offer.body(), new byte[0]);
    try (RawPeer peer = RawPeer.connect(listener.uri().getPort(), hello);
        Connection connection = accepting.result()) {
      assertThatThrownBy(connection::rma).isInstanceOf(UnsupportedOperationException.class);
      peer.disconnect();
    }
  }
}
