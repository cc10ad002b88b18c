// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.endpoint;

/**
 * How long to wait for a device to say that a queue pair in error takes no more receives from its
 * shared queue. Devices should say so at once, and some never do; nobody is to wait for those time
 * and again.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class LastRequestPatience {

  static final long LONG_NANOS = 100_000_000;

  /** Enough for what the device is at; nobody tells whether it was. */
  static final long SHORT_NANOS = 1_000_000;

  static final int CHANCES = 3;

  private boolean told;
  private int chances = CHANCES;

  /** Begins with a device of which nothing is known. */
  LastRequestPatience() {}

  /**
   * Returns how long to wait now.
   *
   * @return the time in nanoseconds
   */
  public synchronized long nanos() {
    return told || chances > 0 ? LONG_NANOS : SHORT_NANOS;
  }

  /**
   * The wait is over.
   *
   * @param hasTold whether the device has said it
   */
  public synchronized void waited(boolean hasTold) {
    told |= hasTold;
    if (!hasTold) {
      chances = Math.max(0, chances - 1);
    }
  }
}
