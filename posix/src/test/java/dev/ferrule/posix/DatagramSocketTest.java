// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The kernel's information about datagrams, and descriptors that a hostile peer passes. */
class DatagramSocketTest {

  private static final int AF_INET = 2;
  private static final int SOCK_STREAM = 1;
  private static final int SO_LINGER = 13;
  private static final int F_SETFL = 4;

  @TempDir private Path folder;

  private final Arena arena = Arena.ofAuto();

  /** Creates a TCP socket whose last close blocks for an hour, as its other end reads nothing. */
  private int lingering(int port) throws Throwable {
    int fd = Posix.socket(AF_INET, SOCK_STREAM);
    ByteBuffer address = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder());
    address.putShort((short) AF_INET).order(ByteOrder.BIG_ENDIAN).putShort((short) port);
    address.put(InetAddress.getByName("127.0.0.1").getAddress());
    MethodHandle connect =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().findOrThrow("connect"),
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_INT));
    MemorySegment name = arena.allocateFrom(ValueLayout.JAVA_BYTE, address.array());
    assertThat((int) connect.invokeExact(fd, name, 16)).isZero();
    MemorySegment linger = arena.allocateFrom(ValueLayout.JAVA_INT, 1, 3600);
    assertThat(LibC.setsockopt(fd, LibC.SOL_SOCKET(), SO_LINGER, linger, 8)).isZero();
    Posix.fcntl(fd, F_SETFL, Posix.O_NONBLOCK);
    MemorySegment much = arena.allocate(1 << 16);
    while (Posix.write(fd, much) > 0) {}
    Posix.fcntl(fd, F_SETFL, 0);
    return fd;
  }

  @Test
  void aDatagramNamesTheProcessThatHasSentIt() {
    Path to = folder.resolve("to");
    try (DatagramSocket receiver = new DatagramSocket(to);
        DatagramSocket sender = new DatagramSocket(folder.resolve("from"))) {
      assertThat(sender.send(new byte[8], null, to)).isZero();
      DatagramSocket.Datagram datagram = receiver.receive();
      assertThat(datagram).isNotNull();
      assertThat(datagram.sender()).isEqualTo(Credentials.own());
      assertThat(datagram.sender().isOwnUser()).isTrue();
    }
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aFileWhoseCloseTakesLongDelaysNothing() throws Throwable {
    Path to = folder.resolve("to");
    try (ServerSocketChannel server = ServerSocketChannel.open();
        DatagramSocket receiver = new DatagramSocket(to);
        DatagramSocket sender = new DatagramSocket(folder.resolve("from"))) {
      server.bind(new InetSocketAddress("127.0.0.1", 0));
      int fd = lingering(((InetSocketAddress) server.getLocalAddress()).getPort());
      try (SocketChannel other = server.accept()) {
        assertThat(other.isOpen()).isTrue();
        assertThat(sender.send(new byte[8], new SealedFile(fd), to)).isZero();
        Posix.close(fd); // not the last close, as the descriptor is in flight
        DatagramSocket.Datagram datagram = receiver.receive();
        assertThat(datagram).isNotNull();
        assertThat(datagram.file()).isNotNull();
        datagram.file().close();
        // the handshakes of others continue
        assertThat(sender.send(new byte[8], null, to)).isZero();
        assertThat(receiver.receive()).isNotNull();
      }
    }
  }

  @Test
  void whileTooManyFilesAreToBeClosedNothingMoreIsReceived() throws Exception {
    Path to = folder.resolve("to");
    CountDownLatch closing = new CountDownLatch(1);
    try (DatagramSocket receiver = new DatagramSocket(to);
        DatagramSocket sender = new DatagramSocket(folder.resolve("from"));
        Fifo.Reader passed = new Fifo.Reader(folder.resolve("fifo"))) {
      // as a close that blocks
      Future<Boolean> blocked =
          DescriptorCloser.Later.EXECUTOR.submit(() -> closing.await(50, TimeUnit.SECONDS));
      for (int i = 0; i < DescriptorCloser.MAX_PENDING; i++) {
        assertThat(sender.send(new byte[8], new SealedFile(passed.fd()), to)).isZero();
        DatagramSocket.Datagram datagram = receiver.receive();
        assertThat(datagram).isNotNull();
        assertThat(datagram.file()).isNotNull();
        datagram.file().close();
      }
      assertThat(sender.send(new byte[8], null, to)).isZero();
      assertThat(receiver.receive()).as("while busy").isNull();

      closing.countDown();
      assertThat(blocked.get()).isTrue();
      DatagramSocket.Datagram late = receiver.receive();
      while (late == null) {
        late = receiver.receive();
      }
      assertThat(late.bytes()).hasSize(8);
    } finally {
      closing.countDown();
    }
  }
}
