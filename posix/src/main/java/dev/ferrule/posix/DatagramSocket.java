// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import dev.ferrule.posix.libc.LibC;
import dev.ferrule.posix.libc.cmsghdr;
import dev.ferrule.posix.libc.iovec;
import dev.ferrule.posix.libc.msghdr;
import dev.ferrule.posix.libc.sockaddr_un;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A non-blocking Unix domain datagram socket bound to a path. The JDK supports only stream sockets
 * of that domain.
 */
public final class DatagramSocket implements AutoCloseable {

  /**
   * Maximum path length of a Unix domain socket, in bytes: sun_path without its terminating zero.
   */
  public static final int MAX_PATH = 107;

  /** Maximum datagram that {@link #receive} does not truncate, in bytes. */
  public static final int MAX_DATAGRAM = 8 + 4096;

  private static final long SUN_PATH = sockaddr_un.sun_path$offset();

  /**
   * A datagram.
   *
   * @param bytes its content
   * @param from the path that its sender is bound to, or null if it is bound to none
   * @param sender the process that sent it
   * @param file the file passed with it, to be closed by the caller; or null
   * @param isFileLost whether a file was passed for which this process has no descriptor
   */
  public record Datagram(
      byte[] bytes,
      @Nullable String from,
      Credentials sender,
      @Nullable SealedFile file,
      boolean isFileLost) {}

  // A control message is a header, and its data in steps of 8 bytes: the sender's process, user and
  // group, and descriptors. There is room for the maximum number that the kernel passes at a time
  // (SCM_MAX_FD): the kernel would close any others within recvmsg(2), which may block for as long
  // as the peer chooses.
  private static final int SCM_CREDENTIALS = 2; // not among the bindings
  private static final int CREDENTIALS_SIZE = 3 * Integer.BYTES;
  private static final long UID_OFFSET = Integer.BYTES;
  private static final long CONTROL_HEADER = cmsghdr.sizeof();
  private static final long FILE_SPACE = CONTROL_HEADER + 8;
  private static final int MAX_FILES = 253;
  private static final long FILES_SPACE = (MAX_FILES * Integer.BYTES + 7L) & -Long.BYTES;
  private static final long CONTROL_SPACE = CONTROL_HEADER + 16 + CONTROL_HEADER + FILES_SPACE;
  private static final long PAUSE_NANOS = 1_000_000;

  private final int fd;
  private final Arena arena = Arena.ofAuto();
  private final MemorySegment buffer = arena.allocate(MAX_DATAGRAM);
  private final MemorySegment address = arena.allocate(sockaddr_un.layout());
  private final MemorySegment control = arena.allocate(CONTROL_SPACE, Long.BYTES);
  private final MemorySegment message = message(arena, address, buffer, control);
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
      Posix.setsockopt(fd, LibC.SO_PASSCRED(), 1);
      MemorySegment name = scratch.allocate(sockaddr_un.layout());
      Posix.bind(fd, name, fill(name, path.toString()), path.toString());
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  /** {@return the descriptor, for {@link EventPoll}} */
  public int fd() {
    return fd;
  }

  /**
   * Sends a datagram.
   *
   * @param bytes its content
   * @param file a file passed with it unless it is closed, or null
   * @param to the path of the receiving socket
   * @return 0, or -errno: EAGAIN if the receiver's queue is full, ECONNREFUSED or ENOENT if there
   *     is no receiver
   */
  public synchronized int send(byte[] bytes, @Nullable SealedFile file, Path to) {
    if (file == null) {
      return send(bytes, -1, to);
    }
    synchronized (file) { // so that its descriptor is not reused for another file
      return send(bytes, file.fd(), to);
    }
  }

  private int send(byte[] bytes, int passed, Path to) {
    if (closed) {
      return -Errno.EBADF;
    }
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment name = scratch.allocate(sockaddr_un.layout());
      int length = fill(name, to.toString());
      MemorySegment datagram =
          message(
              scratch,
              name.asSlice(0, length),
              scratch.allocateFrom(ValueLayout.JAVA_BYTE, bytes),
              passed < 0 ? MemorySegment.NULL : passing(passed, scratch));
      long result = Posix.sendmsg(fd, datagram, LibC.MSG_DONTWAIT() | LibC.MSG_NOSIGNAL());
      return result < 0 ? (int) result : 0;
    }
  }

  private static MemorySegment message(
      Arena arena, MemorySegment name, MemorySegment content, MemorySegment control) {
    MemorySegment part = arena.allocate(iovec.layout());
    iovec.iov_base(part, content);
    iovec.iov_len(part, content.byteSize());
    MemorySegment message = arena.allocate(msghdr.layout());
    msghdr.msg_name(message, name);
    msghdr.msg_namelen(message, (int) name.byteSize());
    msghdr.msg_iov(message, part);
    msghdr.msg_iovlen(message, 1);
    msghdr.msg_control(message, control);
    msghdr.msg_controllen(message, control.byteSize());
    return message;
  }

  private static MemorySegment passing(int file, Arena arena) {
    MemorySegment rights = arena.allocate(FILE_SPACE, Long.BYTES);
    cmsghdr.cmsg_len(rights, CONTROL_HEADER + Integer.BYTES);
    cmsghdr.cmsg_level(rights, LibC.SOL_SOCKET());
    cmsghdr.cmsg_type(rights, LibC.SCM_RIGHTS());
    rights.set(ValueLayout.JAVA_INT, CONTROL_HEADER, file);
    return rights;
  }

  /**
   * Receives a datagram. Called by one thread.
   *
   * @return the datagram, or null if none is queued
   */
  public @Nullable Datagram receive() {
    if (DescriptorCloser.isBusy()) {
      LockSupport.parkNanos(PAUSE_NANOS); // the socket stays readable
      return null;
    }
    msghdr.msg_namelen(message, (int) address.byteSize());
    msghdr.msg_controllen(message, control.byteSize());
    long length = Posix.recvmsg(fd, message, LibC.MSG_DONTWAIT() | LibC.MSG_CMSG_CLOEXEC());
    if (length < 0) {
      return null;
    }
    Credentials sender = Credentials.UNKNOWN;
    SealedFile file = null;
    long end = msghdr.msg_controllen(message);
    long at = 0;
    while (end - at >= CONTROL_HEADER) {
      MemorySegment header = control.asSlice(at);
      long size = cmsghdr.cmsg_len(header);
      int type = cmsghdr.cmsg_level(header) == LibC.SOL_SOCKET() ? cmsghdr.cmsg_type(header) : -1;
      if (type == SCM_CREDENTIALS && size >= CONTROL_HEADER + CREDENTIALS_SIZE) {
        sender =
            new Credentials(
                header.get(ValueLayout.JAVA_INT, CONTROL_HEADER),
                header.get(ValueLayout.JAVA_INT, CONTROL_HEADER + UID_OFFSET));
      } else if (type == LibC.SCM_RIGHTS()) {
        for (long place = CONTROL_HEADER; place + Integer.BYTES <= size; place += Integer.BYTES) {
          SealedFile passed = new SealedFile(header.get(ValueLayout.JAVA_INT, place));
          if (file == null) {
            file = passed;
          } else {
            passed.close(); // one is expected
          }
        }
      }
      at += Math.max(CONTROL_HEADER, (size + Long.BYTES - 1) & -Long.BYTES);
    }
    int nameLength = msghdr.msg_namelen(message) - (int) SUN_PATH;
    return new Datagram(
        buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE),
        name(nameLength),
        sender,
        file,
        file == null && (msghdr.msg_flags(message) & LibC.MSG_CTRUNC()) != 0);
  }

  private @Nullable String name(int nameLength) {
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
      throw new PosixException("sockaddr_un", path, Errno.ENAMETOOLONG);
    }
    sockaddr_un.sun_family(name, (short) LibC.AF_UNIX());
    MemorySegment.copy(bytes, 0, name, ValueLayout.JAVA_BYTE, SUN_PATH, bytes.length);
    return (int) SUN_PATH + bytes.length + 1;
  }
}
