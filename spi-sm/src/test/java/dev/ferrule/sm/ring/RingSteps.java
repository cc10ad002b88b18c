// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.util.function.Consumer;

/**
 * The tests' hook. It precedes the product's class of the same name, which does nothing, on the
 * class path.
 */
public final class RingSteps {

  private static final Consumer<RingStep> NONE = step -> {};

  private static volatile Consumer<RingStep> action = NONE;

  private RingSteps() {}

  /**
   * Sets an action, in place of the one before.
   *
   * @param onStep called at each step, by the thread that reaches it
   */
  public static void onStep(Consumer<RingStep> onStep) {
    action = onStep;
  }

  /** Removes the action. */
  public static void ignore() {
    action = NONE;
  }

  static void reached(RingStep step) {
    action.accept(step);
  }
}
