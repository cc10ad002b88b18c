// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import java.util.Arrays;

/**
 * The regions of a receiver that the program does not hold: a stack, as the most recently used one
 * is the warmest. Created on demand, up to a maximum. Not thread-safe.
 */
final class ReceiveRegions {

  private static final int AT_ONCE = 64;

  private final SmReceiver receiver;
  private final int max;
  private SmReceiveRegion[] idle = {};
  private int count;

  ReceiveRegions(SmReceiver receiver, int max) {
    this.receiver = receiver;
    this.max = max;
  }

  /** Returns whether the program holds the maximum number of regions. */
  boolean areAllHeld() {
    return count == 0 && idle.length == max;
  }

  /** Throws if there is none for another message; to be called before {@link #next}. */
  void check() {
    if (count == 0) {
      add();
    }
  }

  private void add() {
    receiver.connection().checkNotReleased();
    if (idle.length == max) {
      throw new IllegalStateException(
          "the program holds all "
              + max
              + " regions; free some before receiving more, or raise the option"
              + " ring");
    }
    InlineMemory[] more = InlineMemory.allocate(Math.min(AT_ONCE, max - idle.length));
    idle = Arrays.copyOf(idle, idle.length + more.length);
    for (InlineMemory inline : more) {
      idle[count++] = new SmReceiveRegion(receiver, inline);
    }
  }

  /** Returns the region for the next message. */
  SmReceiveRegion next() {
    return idle[count - 1];
  }

  /** Called when the region that {@link #next} has returned is passed to the program. */
  void taken() {
    count--;
  }

  void putBack(SmReceiveRegion region) {
    idle[count++] = region;
  }
}
