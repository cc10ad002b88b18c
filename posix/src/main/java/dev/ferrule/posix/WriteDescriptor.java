// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A descriptor that any thread may write to while another closes it. There is no lock: a thread
 * that stops in the middle of a write blocks no other.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class WriteDescriptor implements AutoCloseable {

  private static final int CLOSED = 1 << 31;

  private final int fd;

  /** The number of threads that are writing; with CLOSED when no further one may begin. */
  private final AtomicInteger writing = new AtomicInteger();

  /**
   * Takes ownership of a descriptor.
   *
   * @param fd the descriptor
   */
  public WriteDescriptor(int fd) {
    this.fd = fd;
  }

  /** {@return the descriptor, which may be closed} */
  public int fd() {
    return fd;
  }

  /**
   * Writes. Allocates nothing.
   *
   * @param bytes the bytes
   * @return the number of bytes written, or {@code -errno}: EBADF when it is closed
   */
  public long write(MemorySegment bytes) {
    if (!enter()) {
      return -Errno.EBADF;
    }
    try {
      return Posix.write(fd, bytes);
    } finally {
      leave();
    }
  }

  private boolean enter() {
    while (true) {
      int now = writing.get();
      if (now < 0) {
        return false;
      }
      if (writing.compareAndSet(now, now + 1)) {
        return true;
      }
    }
  }

  private void leave() {
    if (writing.decrementAndGet() == CLOSED) {
      Posix.close(fd); // not earlier, as another file may then reuse the number
    }
  }

  /** Closes the descriptor; deferred until the writes in progress have returned. */
  @Override
  public void close() {
    if (writing.getAndUpdate(now -> now | CLOSED) == 0) {
      Posix.close(fd);
    }
  }
}
