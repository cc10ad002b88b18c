// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.os.DatagramSocket;
import dev.ferrule.sm.os.Fifo;
import dev.ferrule.sm.os.SealedFile;
import dev.ferrule.sm.os.SharedMapping;
import dev.ferrule.sm.ring.RingLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A client's endpoint that makes the memory it is told to make and sends what it is told to send.
 */
final class FakeClient implements AutoCloseable {

  static final int CONNECT = 1;
  static final int ACCEPT = 2;
  static final int ACK = 4;
  static final int CANCEL = 5;
  static final int REFUSE = 6;

  /** Few slots, so that many clients take little memory. */
  static final RingLayout LAYOUT = new RingLayout(4, 0, 100);

  private final Arena arena = Arena.ofShared();
  private final Path listener;
  private final Path endpoint;
  private final DatagramSocket socket;
  private final Map<Integer, SealedFile> memory = new HashMap<>();
  private Fifo.@Nullable Reader fifo;

  /** A message from the listener. */
  record Answer(int type, int clientId, int serverId, String text) {}

  /**
   * Makes an endpoint without connections and without a FIFO.
   *
   * @param listener the listener's directory
   * @param pid the number the endpoint goes by
   */
  FakeClient(Path listener, int pid) throws IOException {
    this.listener = listener;
    Path base = listener.resolve("../..").normalize();
    endpoint = Files.createDirectories(base.resolve(pid + "/1"));
    socket = new DatagramSocket(endpoint.resolve(EndpointFiles.SOCKET));
  }

  /** Makes the FIFO. */
  FakeClient withFifo() {
    fifo = new Fifo.Reader(endpoint.resolve(EndpointFiles.FIFO));
    return this;
  }

  Path connection(int id) {
    return EndpointFiles.connection(endpoint, id);
  }

  /** Makes the memory of a connection. */
  void makeMemory(int id) {
    SealedFile file = SharedRing.createFile(LAYOUT, 0);
    Reference.reachabilityFence(SharedRing.create(file, LAYOUT, 0, null, arena));
    keep(id, file);
  }

  /** Makes memory that has a ring, whose generation is the number, and nothing else. */
  void makeRing(int id) {
    SealedFile file = SealedFile.create(LAYOUT.ringSize(), LAYOUT.ringSize());
    SharedMapping mapping = file.map(LAYOUT.ringSize(), arena);
    LAYOUT.writeDescriptor(mapping.view(), 0, id, 0);
    Reference.reachabilityFence(mapping);
    keep(id, file);
  }

  /** Makes memory that has nothing in it. */
  void makeNothing(int id) {
    keep(id, SealedFile.create(LAYOUT.ringSize(), LAYOUT.ringSize()));
  }

  private void keep(int id, SealedFile file) {
    SealedFile former = memory.put(id, file);
    if (former != null) {
      former.close();
    }
  }

  /** Sends a message; returns 0 or -errno. */
  int send(int type, int id, int serverId) {
    long header = type | 2 << 4 | (long) id << 24 | (long) serverId << 44;
    byte[] bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(header).array();
    SealedFile passed = type == CONNECT ? memory.get(id) : null;
    return socket.send(bytes, passed, listener.resolve(EndpointFiles.SOCKET));
  }

  /** Makes the memory of a connection and asks for it, until the datagram gets through. */
  void connect(int id) {
    makeMemory(id);
    while (send(CONNECT, id, 0) != 0) {
      Thread.onSpinWait(); // the listener's queue is full
    }
  }

  /** Waits for the next message from the listener. */
  Answer answer() {
    DatagramSocket.Datagram datagram = socket.receive();
    while (datagram == null) {
      Thread.onSpinWait();
      datagram = socket.receive();
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
    memory.values().forEach(SealedFile::close);
    arena.close();
  }
}
