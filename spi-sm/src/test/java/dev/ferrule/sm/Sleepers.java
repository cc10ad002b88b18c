// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.posix.Futex;
import java.util.Arrays;

/** Determines whether threads sleep. */
public final class Sleepers {

  private Sleepers() {}

  /**
   * Returns whether a thread sleeps. A thread that sleeps on a flag in shared memory is in a system
   * call, which its state does not show.
   *
   * @param thread the thread
   * @return whether it sleeps
   */
  public static boolean isAsleep(Thread thread) {
    Thread.State state = thread.getState();
    return state == Thread.State.WAITING
        || state == Thread.State.TIMED_WAITING
        || state == Thread.State.RUNNABLE
            && Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(Futex.class.getName()));
  }
}
