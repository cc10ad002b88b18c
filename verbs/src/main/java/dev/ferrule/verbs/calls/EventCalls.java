// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.ferrule.bindings.libc.LibC;
import java.lang.invoke.MethodHandle;

/**
 * The functions of the C library by which a thread is woken up. They return what C does, or {@code
 * -errno}.
 *
 * <p><b>Threads:</b> any number of threads may call.
 */
public final class EventCalls {

  private static final MethodHandle EVENTFD =
      Downcalls.link(LibC.eventfd$address(), JAVA_INT, JAVA_INT, JAVA_INT);

  private EventCalls() {}

  /**
   * {@code eventfd(2)}.
   *
   * @param initial the counter's value at first
   * @param flags the flags
   * @return the descriptor
   */
  public static int eventfd(int initial, int flags) {
    return Downcalls.status(state -> (int) EVENTFD.invokeExact(state, initial, flags));
  }
}
