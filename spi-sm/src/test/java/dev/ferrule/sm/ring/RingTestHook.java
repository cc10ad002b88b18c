// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.util.function.Consumer;

/**
 * The tests' hook. It precedes the product's class of the same name, which does nothing, on the
 * class path.
 */
public final class RingTestHook {

  private static final Consumer<RingTestPoint> NONE = point -> {};

  private static volatile Consumer<RingTestPoint> action = NONE;

  private RingTestHook() {}

  /**
   * Sets an action, in place of the one before.
   *
   * @param onReached called at each point, by the thread that reaches it
   */
  public static void onReached(Consumer<RingTestPoint> onReached) {
    action = onReached;
  }

  /** Removes the action. */
  public static void ignore() {
    action = NONE;
  }

  static void reached(RingTestPoint point) {
    action.accept(point);
  }
}
