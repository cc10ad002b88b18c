// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import dev.ferrule.posix.libc.LibC;
import dev.ferrule.posix.libc.pollfd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** The two ends of a named pipe that carries 4-byte headers. No operation blocks. */
public final class Fifo {

  private Fifo() {}

  /** The reading end, held by the process that creates the FIFO. */
  public static final class Reader implements AutoCloseable {

    /** Maximum number of headers returned by one {@link #read}. */
    public static final int BATCH = 1024;

    private final int fd;
    private final Arena arena = Arena.ofAuto(); // nothing to close when the FIFO cannot be opened
    private final MemorySegment buffer = arena.allocate(BATCH * 4L, 4);
    private boolean whole = true;

    /**
     * Creates the FIFO and opens it.
     *
     * @param path the FIFO, which must not exist
     * @throws PosixException if it cannot be created
     */
    public Reader(Path path) {
      Posix.mkfifo(path.toString(), 0600);
      // also for writing: a FIFO whose last writer has closed it would otherwise be readable (end
      // of file) forever
      fd = Posix.open(path.toString(), Posix.O_RDWR | Posix.O_NONBLOCK | Posix.O_NOFOLLOW, 0);
    }

    /** {@return the descriptor, for {@link EventPoll}} */
    public int fd() {
      return fd;
    }

    /**
     * Reads the pending headers; {@link #header} returns them.
     *
     * @return the number of headers; 0 if there are none
     */
    public int read() {
      long result = Math.max(0, Posix.read(fd, buffer));
      whole = result % 4 == 0;
      return (int) (result / 4);
    }

    /**
     * {@return whether the last {@link #read} returned whole headers only} Writes of 4 bytes are
     * atomic, so a partial header is garbage from a faulty peer, and the headers read with it may
     * be misaligned.
     */
    public boolean isWhole() {
      return whole;
    }

    /**
     * Returns a header of the last {@link #read}.
     *
     * @param index its position, from 0
     * @return the header
     */
    public int header(int index) {
      return buffer.getAtIndex(ValueLayout.JAVA_INT, index);
    }

    @Override
    public void close() {
      Posix.close(fd);
    }
  }

  /** The writing end. Any number of threads may use it. */
  public static final class Writer implements AutoCloseable {

    /** The result of a write. */
    public enum Result {
      /** It was written. */
      WRITTEN,
      /** The pipe has no room for it. */
      FULL,
      /** The reader is gone (EPIPE). */
      NO_READER
    }

    private final WriteDescriptor pipe;

    /**
     * Takes ownership of a FIFO's descriptor.
     *
     * @param fd the descriptor, open for writing without blocking
     */
    public Writer(int fd) {
      pipe = new WriteDescriptor(fd);
    }

    /**
     * {@return the descriptor, for {@link EventPoll}, which reports an error on it when the reader
     * is gone}
     */
    public int fd() {
      return pipe.fd();
    }

    /**
     * Writes a header. Allocates nothing, and takes no lock: a thread that stops in here blocks no
     * other. The JVM ignores SIGPIPE, so that a missing reader is an error and not a signal.
     *
     * @param header its 4 bytes, in native memory
     * @return the result
     */
    public Result write(MemorySegment header) {
      int fault =
          NativeFunction.fault("write"); // not in WriteDescriptor: writes to an eventfd do not fail
      long result = fault == 0 ? pipe.write(header) : -fault;
      if (result == Integer.BYTES) {
        return Result.WRITTEN;
      }
      return result == -Errno.EAGAIN || result == -Errno.EINTR ? Result.FULL : Result.NO_READER;
    }

    /** {@return whether a process has the pipe open for reading} */
    public boolean hasReader() {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment status = pollfd.allocate(arena); // of no events: an error is always reported
        pollfd.fd(status, fd());
        int result = Posix.poll(status, 1, 0);
        while (result == -Errno.EINTR) {
          result = Posix.poll(status, 1, 0);
        }
        return (pollfd.revents(status) & LibC.POLLERR()) == 0;
      }
    }

    /** Closes the end; deferred until the writes in progress have returned. */
    @Override
    public void close() {
      pipe.close();
    }
  }
}
