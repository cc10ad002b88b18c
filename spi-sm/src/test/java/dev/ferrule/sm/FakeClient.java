// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.ring.RingLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A client's endpoint that sends arbitrary messages of the handshake. */
final class FakeClient implements AutoCloseable {

  static final int CONNECT = 1;
  static final int ACCEPT = 2;
  static final int ACK = 4;
  static final int CANCEL = 5;
  static final int REFUSE = 6;

  /** The version of the handshake, at its position in a message. */
  static final int VERSION = 3 << 4;

  private static final RingLayout LAYOUT = new RingLayout(12, 0, 100);

  private final Path listener;
  private final Path endpoint;
  private final DatagramSocket socket;
  private final List<SealedFile> memories = new ArrayList<>();
  private Fifo.@Nullable Reader fifo;

  /** A message from the listener. */
  record Answer(int type, int clientId, int serverId, String text) {}

  /**
   * Creates an endpoint without a FIFO.
   *
   * @param listener the listener's directory
   * @param pid the endpoint's process id
   */
  FakeClient(Path listener, int pid) throws IOException {
    this.listener = listener;
    Path base = listener.resolve("../..").normalize();
    endpoint = Files.createDirectories(base.resolve(pid + "/1"));
    socket = new DatagramSocket(endpoint.resolve(EndpointFiles.SOCKET));
  }

  /** Creates the FIFO. */
  FakeClient withFifo() {
    fifo = new Fifo.Reader(endpoint.resolve(EndpointFiles.FIFO));
    return this;
  }

  Path endpoint() {
    return endpoint;
  }

  /** Returns a connection's directory, which a client makes first, and removes when it gives up. */
  Path connection(int id) {
    return EndpointFiles.connection(endpoint, id);
  }

  /** Creates the memory of a connection. */
  static SealedFile memory() {
    SharedRing.OnDemand rma = new SharedRing.OnDemand(0, 0, 0);
    SealedFile file = SharedRing.createFile(LAYOUT, rma);
    Reference.reachabilityFence(
        SharedRing.create(file, LAYOUT, rma, false, 0, null, SealedFile.Limits.NONE));
    return file;
  }

  /** Creates memory that passes the checks of a listener before it accepts. */
  static SealedFile incompleteMemory() {
    SealedFile file = SealedFile.create(LAYOUT.ringSize(), LAYOUT.ringSize());
    SharedMapping mapping = file.map(LAYOUT.ringSize());
    LAYOUT.writeDescriptor(mapping.view(), 0, 1, 0, 0);
    Reference.reachabilityFence(mapping);
    return file;
  }

  /** Sends a message; returns 0 or -errno. */
  int send(int type, int id, int serverId, @Nullable SealedFile memory) {
    if (type == CONNECT) {
      try {
        Files.createDirectories(connection(id));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    long header = type | VERSION | (long) id << 24 | (long) serverId << 44;
    byte[] bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(header).array();
    return socket.send(bytes, memory, listener.resolve(EndpointFiles.SOCKET));
  }

  /** Requests a connection, until the datagram is delivered. */
  void connect(int id) {
    SealedFile memory = memory();
    memories.add(memory);
    while (send(CONNECT, id, 0, memory) != 0) {
      spinUntilTheTestIsLate(); // the listener's queue is full
    }
  }

  /** Waits for the next message from the listener. */
  Answer answer() {
    Answer answer = pollAnswer();
    while (answer == null) {
      spinUntilTheTestIsLate();
      answer = pollAnswer();
    }
    return answer;
  }

  private static void spinUntilTheTestIsLate() {
    if (Thread.currentThread().isInterrupted()) {
      throw new AssertionError("no answer of the listener within the test's time limit");
    }
    Thread.onSpinWait();
  }

  /** Returns the next message from the listener, or null if there is none yet. */
  @Nullable Answer pollAnswer() {
    DatagramSocket.Datagram datagram = socket.receive();
    if (datagram == null) {
      return null;
    }
    SealedFile file = datagram.file();
    if (file != null) {
      file.close();
    }
    ByteBuffer bytes = ByteBuffer.wrap(datagram.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    long header = bytes.getLong();
    return new Answer(
        (int) header & 0xf,
        (int) (header >>> 24) & 0xfffff,
        (int) (header >>> 44),
        StandardCharsets.UTF_8.decode(bytes).toString());
  }

  @Override
  public void close() {
    socket.close();
    if (fifo != null) {
      fifo.close();
    }
    memories.forEach(SealedFile::close);
  }
}
