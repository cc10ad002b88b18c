// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.ring.RingLayout;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;

/** The socket and the FIFO of a process that listens. They may be in a directory of their own. */
final class FakeListener implements AutoCloseable {

  static final int CONNECT = 1;
  static final int ACCEPT = 2;
  static final int ACK = 4;

  private static final RingLayout LAYOUT = new RingLayout(12, 0, 100);

  private final Path endpoint;
  private final Fifo.Reader fifo;
  private final DatagramSocket socket;
  private boolean closed;

  /**
   * A message of a client.
   *
   * @param from the client's socket
   * @param generation of the client's ring; 0 if no memory came with the message
   */
  record Request(int type, int clientId, int serverId, Path from, long generation) {}

  /** Creates the two files in a directory named PID/ID. */
  FakeListener(Path endpoint) throws IOException {
    this.endpoint = Files.createDirectories(endpoint);
    fifo = new Fifo.Reader(endpoint.resolve(EndpointFiles.FIFO));
    socket = new DatagramSocket(endpoint.resolve(EndpointFiles.SOCKET));
  }

  /** Replaces the files of another process, which stay open there. At no time is one missing. */
  void replace(FakeListener other) throws IOException {
    for (String name : new String[] {EndpointFiles.FIFO, EndpointFiles.SOCKET}) {
      Files.move(
          endpoint.resolve(name), other.endpoint.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** Waits for the next message. */
  Request next() {
    DatagramSocket.Datagram datagram = socket.receive();
    while (datagram == null) {
      if (Thread.currentThread().isInterrupted()) {
        throw new AssertionError("no message of the client within the test's time limit");
      }
      Thread.onSpinWait();
      datagram = socket.receive();
    }
    long header = ByteBuffer.wrap(datagram.bytes()).order(ByteOrder.LITTLE_ENDIAN).getLong();
    return new Request(
        (int) header & 0xf,
        (int) (header >>> 24) & 0xfffff,
        (int) (header >>> 44),
        Path.of(Objects.requireNonNull(datagram.from())),
        generation(datagram));
  }

  private static long generation(DatagramSocket.Datagram datagram) {
    try (SealedFile file = datagram.file()) {
      return file == null
          ? 0
          : RingLayout.readDescriptor(file.read(RingLayout.DESCRIPTOR_SIZE))
              .orElseThrow()
              .generation();
    }
  }

  /** Accepts a client, with memory that names the client's as its opposite. */
  void accept(Request connect, int serverId) {
    SharedRing.OnDemand more = new SharedRing.OnDemand(0, 0, 0);
    try (SealedFile memory = SharedRing.createFile(LAYOUT, more)) {
      Reference.reachabilityFence(
          SharedRing.create(
              memory, LAYOUT, more, false, connect.generation, null, SealedFile.Limits.NONE));
      long header =
          ACCEPT | FakeClient.VERSION | (long) connect.clientId << 24 | (long) serverId << 44;
      byte[] bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(header).array();
      if (socket.send(bytes, memory, connect.from) != 0) {
        throw new AssertionError("the client's queue is full");
      }
    }
  }

  /** Closes the files as the kernel does for a process that is killed. May be repeated. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      socket.close();
      fifo.close(); // twice would close another file with the same number
    }
  }
}
