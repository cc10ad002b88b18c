// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** The two ends of a named pipe that carries 4-byte headers, without ever blocking. */
public final class Fifo {

  private Fifo() {}

  /** The end that reads, which belongs to the endpoint that owns the FIFO. */
  public static final class Reader implements AutoCloseable {

    /** How many headers one {@link #read} takes at most. */
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
      // for writing as well: a FIFO whose last writer has left would otherwise be "ready" (end of
      // file) for ever
      fd = Posix.open(path.toString(), LibC.O_RDWR() | LibC.O_NONBLOCK() | Posix.O_NOFOLLOW, 0);
      boolean done = false;
      try {
        OwnDirectory.letGroupUse(fd, path, FileStatus.FIFO, 020);
        done = true;
      } finally {
        if (!done) {
          close();
        }
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
     * Reads the headers that are there; {@link #header} returns them.
     *
     * @return how many were read; 0 if none is there
     */
    public int read() {
      long result = Math.max(0, Posix.read(fd, buffer));
      whole = result % 4 == 0;
      return (int) (result / 4);
    }

    /**
     * Tells whether the last {@link #read} got whole headers only. Writes of 4 bytes are atomic, so
     * a part of one is somebody's garbage, and the headers read with it may be in pieces.
     *
     * @return whether it did
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

  /**
   * The end that writes, which belongs to a connection to the endpoint that owns the FIFO. Any
   * number of threads may use one.
   */
  public static final class Writer implements AutoCloseable {

    /** What became of a header. */
    public enum Result {
      /** It was written. */
      WRITTEN,
      /** There is no room for it in the pipe. */
      FULL,
      /** The reader is gone (EPIPE). */
      NO_READER
    }

    private final WriteDescriptor pipe;

    /**
     * Opens a peer's FIFO.
     *
     * @param path the FIFO, PATH/PID/ID/fifo
     * @throws PosixException if that is not possible; ENXIO if nobody reads from it; ELOOP or
     *     ENOTDIR if it is not a FIFO of the endpoint's user
     */
    public Writer(Path path) {
      pipe =
          new WriteDescriptor(
              PeerFile.open(path, PeerFile.OF_ENDPOINT, FileStatus.FIFO, LibC.O_WRONLY()));
    }

    /**
     * Returns the descriptor, for {@link EventPoll}, which reports an error on it as soon as the
     * reader is gone.
     *
     * @return the file descriptor
     */
    public int fd() {
      return pipe.fd();
    }

    /**
     * Writes a header. Allocates nothing, and takes no lock: a thread that stops in here is in no
     * other's way. The JVM ignores SIGPIPE, so a reader that is gone is an error and not a signal.
     *
     * @param header its 4 bytes, in native memory
     * @return what became of it
     */
    public Result write(MemorySegment header) {
      long result = pipe.write(header);
      if (result == Integer.BYTES) {
        return Result.WRITTEN;
      }
      return result == -LibC.EAGAIN() || result == -LibC.EINTR() ? Result.FULL : Result.NO_READER;
    }

    /** Closes it; if a thread is just writing, when that has come back. */
    @Override
    public void close() {
      pipe.close();
    }
  }
}
