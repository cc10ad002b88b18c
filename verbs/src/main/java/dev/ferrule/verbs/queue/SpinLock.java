// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for a few dozen instructions that two threads seldom want at once. It is not reentrant,
 * and nothing may block under it.
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

  @SuppressWarnings("unused") // by HELD
  private boolean held;

  /** Makes a lock that is free. */
  public SpinLock() {}

  /**
   * Takes the lock if it is free.
   *
   * @return whether it was
   */
  public boolean tryLock() {
    return HELD.compareAndSet(this, false, true);
  }

  /** Takes the lock as soon as it is free. */
  public void lock() {
    int spins = 0;
    while (!tryLock()) {
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield(); // who has it does not run
      }
    }
  }

  /** Gives the lock back. */
  public void unlock() {
    HELD.setRelease(this, false);
  }
}
