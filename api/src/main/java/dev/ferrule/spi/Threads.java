// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.util.concurrent.locks.LockSupport;

/** What the JDK's threads lack, for providers. */
public final class Threads {

  private Threads() {}

  /**
   * Waits a moment. A thread that is interrupted waits as long, and stays interrupted: it waits for
   * something that has to be waited for, and must not spin meanwhile.
   *
   * @param nanos about how long, in nanoseconds
   */
  public static void pause(long nanos) {
    boolean interrupted = Thread.interrupted();
    LockSupport.parkNanos(nanos);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for a thread to end, however often this one is interrupted; that is kept for later.
   *
   * @param thread the thread, which has been told to end; nothing is waited for if it is this one
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
