// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.ferrule.bindings.libc.LibC;
import java.lang.invoke.MethodHandle;

/**
 * The functions of the C library that wake up a thread. They return the result of C, or {@code
 * -errno}.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class EventCalls {

  private static final MethodHandle EVENTFD =
      Downcalls.link(LibC.eventfd$address(), JAVA_INT, JAVA_INT, JAVA_INT);

  private EventCalls() {}

  /**
   * {@code eventfd(2)}.
   *
   * @param initial the counter's initial value
   * @param flags the flags
   * @return the descriptor
   */
  public static int eventfd(int initial, int flags) {
    return Downcalls.status(state -> (int) EVENTFD.invokeExact(state, initial, flags));
  }
}
