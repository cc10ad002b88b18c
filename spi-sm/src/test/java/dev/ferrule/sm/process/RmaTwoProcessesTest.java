// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.ExposedMemory;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Remote memory access between processes, which may be stopped and killed. */
@SuppressWarnings("try") // closing early ends the other process
class RmaTwoProcessesTest extends ProcessTest {

  private static final long SIZE = 5 * (1L << 20) + 11;

  private String address(String path) {
    return address() + "?rma=" + path + "&rmaBuffer=256KiB";
  }

  private static RemoteMemory attach(Connection connection) {
    try (ReceiveRegion message = connection.receiver().receive()) {
      return connection
          .rma()
          .attach(RmaHandle.of(message.segment().toArray(ValueLayout.JAVA_BYTE)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "cma", "mmap"})
  void shouldWriteToAndReadFromTheMemoryOfAnotherProcess(String path) throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address(path)));
        OtherProcess other =
            OtherProcess.start("expose", listener.uri().toString(), Long.toString(SIZE));
        Connection connection = listener.accept()) {
      RemoteMemory remote = attach(connection);
      MemorySegment mine = Arena.ofAuto().allocate(SIZE);
      long sum = 0;
      for (long i = 0; i < SIZE; i++) {
        mine.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + (i >> 9)));
        sum = 31 * sum + mine.get(ValueLayout.JAVA_BYTE, i);
      }
      MemorySegment back = Arena.ofAuto().allocate(SIZE);
      Rma rma = connection.rma();

      rma.writeAndSend(
          connection.register(mine), 0, remote, 0, SIZE, MemorySegment.ofArray(new byte[1]));
      try (ReceiveRegion answer = connection.receiver().receive()) {
        assertThat(answer.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(sum);
      }
      rma.await(rma.read(connection.register(back), 0, remote, 0, SIZE));

      assertThat(back.mismatch(mine)).isEqualTo(-1);
      assertThat(connection.counters().rmaPath()).hasValue(path.equals("auto") ? "cma" : path);
      connection.close();
      assertThat(other.line()).isEqualTo("closed");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cma", "mmap"})
  void shouldFailAWriterWhenThePeerIsKilled(String path) throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address(path)));
        OtherProcess other =
            OtherProcess.start("expose", listener.uri().toString(), Long.toString(SIZE));
        Connection connection = listener.accept()) {
      CompletableFuture<Void> writing = writeForEver(connection, attach(connection));

      other.kill();

      expectPeerLost(writing);
      assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
    }
  }

  /** The peer performs the operations, by whichever path this side reads and writes. */
  @ParameterizedTest
  @ValueSource(strings = {"cma", "mmap"})
  void shouldFailAnAdderWhenThePeerIsKilled(String path) throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address(path)));
        OtherProcess other =
            OtherProcess.start("expose", listener.uri().toString(), Long.toString(SIZE));
        Connection connection = listener.accept()) {
      RemoteMemory remote = attach(connection);
      Rma rma = connection.rma();
      MemorySegment mine = Arena.ofAuto().allocate(8, 8);
      RegisteredMemory local = connection.register(mine);
      rma.await(rma.fetchAndAdd(local, 0, remote, 8, 1));
      assertThat(mine.get(ValueLayout.JAVA_LONG, 0)).isZero();
      rma.await(rma.compareAndSwap(local, 0, remote, 8, 1, 7));
      assertThat(mine.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(1);
      CompletableFuture<Void> adding =
          CompletableFuture.runAsync(() -> {
            while (true) {
              rma.await(rma.fetchAndAdd(local, 0, remote, 8, 1));
            }
          });
      await(() -> mine.get(ValueLayout.JAVA_LONG, 0) >= 7);

      other.kill();

      expectPeerLost(adding);
      assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
    }
  }

  /** Cross-memory attach is one-sided, so the peer may be stopped. */
  @ParameterizedTest
  @ValueSource(strings = {"mmap"})
  void shouldFailAWriterWhenThePeerIsStopped(String path) throws Exception {
    // longer than a JVM that has just started takes for its first answer
    try (Listener listener = Ferrule.listen(URI.create(address(path) + "&peerTimeout=4s"));
        OtherProcess other =
            OtherProcess.start("expose", listener.uri().toString(), Long.toString(SIZE));
        Connection connection = listener.accept()) {
      CompletableFuture<Void> writing = writeForEver(connection, attach(connection));

      other.stop();

      expectPeerLost(writing);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cma", "mmap"})
  void shouldTakeMemoryBackFromAWriterThatIsKilledInTheMiddleOfIt(String path) throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address(path)));
        OtherProcess other =
            OtherProcess.start("write", listener.uri() + "?rma=" + path + "&rmaBuffer=256KiB");
        Connection connection = listener.accept()) {
      MemorySegment memory = Arena.ofAuto().allocate(SIZE);
      ExposedMemory exposed = connection.rma().expose(memory, RmaRight.WRITE);
      connection.sender().send(MemorySegment.ofArray(exposed.handle().toBytes()));
      assertThat(other.line()).isEqualTo("writing");
      await(() -> memory.get(ValueLayout.JAVA_BYTE, SIZE - 1) == 1);

      other.kill();
      exposed.close();
      memory.fill((byte) 0);

      await(() -> connection.state() == ConnectionState.FAILED);
      assertThat(memory.mismatch(Arena.ofAuto().allocate(SIZE))).isEqualTo(-1);
    }
  }

  private static CompletableFuture<Void> writeForEver(Connection connection, RemoteMemory remote) {
    RegisteredMemory local = connection.register(Arena.ofAuto().allocate(SIZE));
    connection.rma().await(connection.rma().write(local, 0, remote, 0, SIZE));
    return CompletableFuture.runAsync(() -> {
      while (true) {
        connection.rma().await(connection.rma().write(local, 0, remote, 0, SIZE));
      }
    });
  }

  private static void expectPeerLost(CompletableFuture<Void> writing) {
    assertThatThrownBy(() -> writing.get(90, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(PeerLostException.class);
  }
}
