// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.util.concurrent.locks.LockSupport;

/** Utility methods for threads. */
public final class Threads {

  private Threads() {}

  /**
   * Sleeps for a moment. Interrupts do not shorten the sleep, so that a loop which must continue
   * does not spin; the interrupt status is preserved.
   *
   * @param nanos the approximate time, in nanoseconds
   */
  public static void pause(long nanos) {
    boolean interrupted = Thread.interrupted();
    LockSupport.parkNanos(nanos);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for a thread to end. Interrupts do not end the wait; the interrupt status is preserved.
   *
   * @param thread the thread, which has been asked to end; if it is the current thread, does not
   *     wait
   */
  public static void awaitEnd(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive() && thread != Thread.currentThread()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
