// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Which registered memory an operation is being begun on, or copied by this side alone. One thread
 * at a time does that; whoever closes a registration, or the connection, waits for it.
 *
 * <p>It is the classic pair: the one stores what it uses and then looks whether that was closed,
 * the other closes it and then looks whether it is in use.
 */
final class LocalUse {

  private static final long PAUSE_NANOS = 20_000;

  private final AtomicReference<@Nullable SmRegisteredMemory> used = new AtomicReference<>();
  private @Nullable Thread user; // stored before what it uses

  /**
   * Says that memory is used from now on, until {@link #end}.
   *
   * @throws IllegalStateException if its registration was closed
   */
  void begin(SmRegisteredMemory memory) {
    user = Thread.currentThread();
    used.set(memory);
    memory.checkOpen();
  }

  void end() {
    used.setRelease(null);
  }

  /**
   * Waits until a registration, which was closed, is not used; false after the deadline. It may be
   * the thread itself that uses it: its access has failed, and a close callback tidies up.
   */
  boolean awaitUnused(SmRegisteredMemory memory, long deadline) {
    while (used.get() == memory && user != Thread.currentThread()) {
      if (deadline - System.nanoTime() < 0) {
        return false;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return true;
  }

  /**
   * Waits until nothing is used, which takes no longer than a piece, as the connection has ended.
   */
  void awaitNone(long deadline) {
    while (used.get() != null
        && user != Thread.currentThread()
        && deadline - System.nanoTime() > 0) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
