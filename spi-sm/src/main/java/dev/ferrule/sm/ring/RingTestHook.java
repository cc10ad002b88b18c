// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * The hook by which tests act on a thread that reaches a {@link RingTestPoint}: the tests' class
 * path begins with another class of this name.
 */
final class RingTestHook {

  private RingTestHook() {}

  /** Called when a thread has reached a point. Does nothing, at no cost. */
  static void reached(RingTestPoint point) {}
}
