// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.os.Futex;
import java.util.Arrays;

/** Finds out whether threads sleep. */
final class Sleepers {

  private Sleepers() {}

  /**
   * Returns whether a thread sleeps. One that sleeps on a flag in shared memory is in a system
   * call, of which its state says nothing.
   */
  static boolean isAsleep(Thread thread) {
    Thread.State state = thread.getState();
    return state == Thread.State.WAITING
        || state == Thread.State.TIMED_WAITING
        || state == Thread.State.RUNNABLE
            && Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(Futex.class.getName()));
  }
}
