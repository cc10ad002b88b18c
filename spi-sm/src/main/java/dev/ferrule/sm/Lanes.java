// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The lanes of a connection that have an owner, at most one each. What an owner has written is
 * visible to the next one.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class Lanes {

  /** Returned by {@link #take} if each lane has an owner. */
  static final int NONE = -1;

  private final int count;
  private final AtomicLong owned = new AtomicLong(); // a bit for each lane

  /**
   * Creates lanes without owners.
   *
   * @param count their number, at most 64
   */
  Lanes(int count) {
    this.count = count;
  }

  /** Takes the first lane without an owner; returns its number, from 0, or NONE. */
  int take() {
    while (true) {
      long now = owned.get();
      int lane = Long.numberOfTrailingZeros(~now);
      if (lane >= count) {
        return NONE;
      }
      if (owned.compareAndSet(now, now | 1L << lane)) {
        return lane;
      }
    }
  }

  /** Gives a lane back. Called by its owner. */
  void giveBack(int lane) {
    long ignored = owned.getAndUpdate(now -> now & ~(1L << lane));
  }
}
