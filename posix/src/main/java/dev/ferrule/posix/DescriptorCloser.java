// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Closes descriptors that a peer has passed and that are not memory files. The last close(2) of
 * such a file may block for as long as the peer chooses: for a TCP socket with SO_LINGER it waits
 * for the other end, for a FUSE file it waits for the file system. A dedicated thread therefore
 * closes them, not the receiving thread, on which all connections depend.
 */
final class DescriptorCloser {

  /** With this many descriptors to close, sockets receive no further ones. */
  static final int MAX_PENDING = 64;

  private static final int SO_LINGER = 13; // not among the bindings
  private static final MemorySegment NO_LINGER = Arena.global().allocate(2L * Integer.BYTES, 4);
  private static final AtomicInteger PENDING = new AtomicInteger();

  /** Created on first use, which is rare. */
  static final class Later {
    static final ExecutorService EXECUTOR =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("ferrule descriptor closer").factory());
  }

  private DescriptorCloser() {}

  /** Closes a descriptor asynchronously. */
  static void close(int fd) {
    PENDING.incrementAndGet();
    boolean started = false;
    try {
      Later.EXECUTOR.execute(() -> closeNow(fd));
      started = true;
    } finally {
      if (!started) {
        PENDING.decrementAndGet(); // it stays open, as closing it here might block
      }
    }
  }

  private static void closeNow(int fd) {
    try {
      // fails if it is no socket
      int ignored = Posix.trySetsockopt(fd, SO_LINGER, NO_LINGER);
      Posix.close(fd);
    } finally {
      PENDING.decrementAndGet();
    }
  }

  /**
   * Returns whether the maximum number of descriptors is pending, so that no more may be received.
   */
  static boolean isBusy() {
    return PENDING.get() >= MAX_PENDING;
  }
}
