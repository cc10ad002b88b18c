// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.bindings.libc.sockaddr_un;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A Unix domain datagram socket that is bound to a path. Neither sending nor receiving blocks.
 * Java's own has no datagrams.
 */
public final class DatagramSocket implements AutoCloseable {

  /**
   * The longest path, in bytes, that a Unix domain socket can have: sun_path less its final zero.
   */
  public static final int MAX_PATH = 107;

  /** The longest datagram that {@link #receive} takes whole, in bytes. */
  public static final int MAX_DATAGRAM = 8 + 4096;

  private static final long SUN_PATH = sockaddr_un.sun_path$offset();

  /**
   * A datagram.
   *
   * @param bytes its content
   * @param from the path that its sender is bound to, or null if it is bound to none
   */
  public record Datagram(byte[] bytes, @Nullable String from) {}

  private final int fd;
  private final Arena arena = Arena.ofAuto();
  private final MemorySegment buffer = arena.allocate(MAX_DATAGRAM);
  private final MemorySegment address = arena.allocate(sockaddr_un.layout());
  private final MemorySegment addressLength = arena.allocate(ValueLayout.JAVA_INT);
  private boolean closed;

  /**
   * Binds a new socket.
   *
   * @param path the socket's path, which must not exist
   * @throws PosixException if it cannot be bound
   */
  public DatagramSocket(Path path) {
    fd =
        Posix.socket(
            LibC.AF_UNIX(), LibC.SOCK_DGRAM() | LibC.SOCK_CLOEXEC() | LibC.SOCK_NONBLOCK());
    boolean done = false;
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment name = scratch.allocate(sockaddr_un.layout());
      Posix.bind(fd, name, fill(name, path.toString()), path.toString());
      letGroupUse(path);
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  private static void letGroupUse(Path path) {
    // the descriptor of the socket is not the file's
    int file = Posix.open(path.toString(), Posix.O_PATH | Posix.O_NOFOLLOW, 0);
    try {
      OwnDirectory.letGroupUse(file, path, FileStatus.SOCKET, 020);
    } finally {
      Posix.close(file);
    }
  }

  /**
   * Returns the descriptor, for {@link EventPoll}.
   *
   * @return the file descriptor
   */
  public int fd() {
    return fd;
  }

  /**
   * Sends a datagram.
   *
   * @param bytes its content
   * @param to the path of the receiving socket
   * @return 0, or -errno: EAGAIN if the receiver's queue is full, ECONNREFUSED or ENOENT if there
   *     is no receiver
   */
  public synchronized int send(byte[] bytes, Path to) {
    if (closed) {
      return -LibC.EBADF();
    }
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment name = scratch.allocate(sockaddr_un.layout());
      int length = fill(name, to.toString());
      long result =
          Posix.sendto(
              fd,
              scratch.allocateFrom(ValueLayout.JAVA_BYTE, bytes),
              LibC.MSG_DONTWAIT() | LibC.MSG_NOSIGNAL(),
              name,
              length);
      return result < 0 ? (int) result : 0;
    }
  }

  /**
   * Receives a datagram. For one thread.
   *
   * @return the datagram, or null if none is there
   */
  public @Nullable Datagram receive() {
    addressLength.set(ValueLayout.JAVA_INT, 0, (int) address.byteSize());
    long length = Posix.recvfrom(fd, buffer, LibC.MSG_DONTWAIT(), address, addressLength);
    if (length < 0) {
      return null;
    }
    int nameLength = addressLength.get(ValueLayout.JAVA_INT, 0) - (int) SUN_PATH;
    return new Datagram(
        buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), sender(nameLength));
  }

  private @Nullable String sender(int nameLength) {
    int length = 0;
    while (length < Math.min(nameLength, MAX_PATH)
        && address.get(ValueLayout.JAVA_BYTE, SUN_PATH + length) != 0) {
      length++;
    }
    if (length == 0) {
      return null;
    }
    byte[] name = address.asSlice(SUN_PATH, length).toArray(ValueLayout.JAVA_BYTE);
    return new String(name, StandardCharsets.UTF_8);
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      Posix.close(fd);
    }
  }

  private static int fill(MemorySegment name, String path) {
    byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MAX_PATH) {
      throw new PosixException("sockaddr_un", path, LibC.ENAMETOOLONG());
    }
    sockaddr_un.sun_family(name, (short) LibC.AF_UNIX());
    MemorySegment.copy(bytes, 0, name, ValueLayout.JAVA_BYTE, SUN_PATH, bytes.length);
    return (int) SUN_PATH + bytes.length + 1;
  }
}
