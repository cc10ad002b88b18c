// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A spin lock for short critical sections with little contention. It is not reentrant, and a thread
 * must not block while it holds the lock.
 */
public final class SpinLock {

  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(SpinLock.class, "held", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int SPINS = 200;

  @SuppressWarnings("unused") // accessed by HELD
  private boolean held;

  /** Creates an unlocked lock. */
  public SpinLock() {}

  /**
   * Acquires the lock if it is free.
   *
   * @return whether it was acquired
   */
  public boolean tryLock() {
    return HELD.compareAndSet(this, false, true);
  }

  /** Acquires the lock, waiting until it is free. */
  public void lock() {
    int spins = 0;
    while (!tryLock()) {
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield(); // the holder may be preempted
      }
    }
  }

  /** Releases the lock. */
  public void unlock() {
    HELD.setRelease(this, false);
  }
}
