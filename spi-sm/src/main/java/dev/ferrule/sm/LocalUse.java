// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.support.Threads;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The registered memory that a thread of this side is using to start an operation or to copy. One
 * thread at a time uses memory. A thread that closes a registration, or the connection, waits for
 * the end of the use.
 *
 * <p>It is a Dekker-style store–load handshake: the user stores the memory that it uses and then
 * loads its state, the closer stores the state and then loads the memory in use.
 */
final class LocalUse {

  private static final long PAUSE_NANOS = 20_000;

  private final AtomicReference<@Nullable SmMemoryUse> used = new AtomicReference<>();
  private @Nullable Thread user; // stored before the memory

  /**
   * Marks memory as used, until {@link #end}.
   *
   * @throws IllegalStateException if its registration was closed
   */
  void begin(SmMemoryUse memory) {
    user = Thread.currentThread();
    used.set(memory);
    memory.checkOpen();
  }

  void end() {
    used.setRelease(null);
  }

  /**
   * Waits until a closed registration is not used; false after the deadline. The using thread may
   * be the calling one: its access has failed, and a close callback cleans up.
   */
  boolean awaitUnused(SmMemoryUse memory, long deadline) {
    while (used.get() == memory && user != Thread.currentThread()) {
      if (deadline - System.nanoTime() < 0) {
        return false;
      }
      Threads.pause(PAUSE_NANOS);
    }
    return true;
  }

  /**
   * Waits until no memory is used. After the end of the connection, the use ends after at most one
   * piece.
   */
  void awaitNone(long deadline) {
    while (used.get() != null
        && user != Thread.currentThread()
        && deadline - System.nanoTime() > 0) {
      Threads.pause(PAUSE_NANOS);
    }
  }
}
