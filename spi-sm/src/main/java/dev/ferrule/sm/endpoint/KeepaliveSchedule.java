// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

/**
 * The time of the next keepalives. The endpoint's thread determines it by a scan of all
 * connections; one scan serves several new connections.
 *
 * <p><b>Threads:</b> any thread may call {@link #add}; the other methods are confined to the
 * endpoint's thread.
 */
final class KeepaliveSchedule {

  /** Stands in for the next time while all connections are scanned for it. */
  private static final long SCANNING = Long.MIN_VALUE;

  private volatile long next = EndpointLoop.NEVER; // by System.nanoTime; or SCANNING
  private volatile boolean changed; // so that a scan may be due earlier than that

  /**
   * Accounts for a connection that a scan finds from now on.
   *
   * @param interval the interval of its keepalives, in nanoseconds; or {@link EndpointLoop#NEVER}
   * @param now the current time, by System.nanoTime
   * @return whether the thread may be waiting for longer than that, and must be woken
   */
  boolean add(long interval, long now) {
    long due = next;
    if (interval == EndpointLoop.NEVER
        || (due != EndpointLoop.NEVER && due != SCANNING && due - now <= interval)) {
      return false;
    }
    changed = true;
    return true;
  }

  /** Makes a scan due: the last one may not have been completed. */
  void repeat() {
    changed = true;
  }

  /** Returns when the next scan is due, by System.nanoTime; or {@link EndpointLoop#NEVER}. */
  long next() {
    return next;
  }

  /** Begins a scan if one is due; returns whether it is. A scan ends by {@link #end}. */
  boolean begin(long now) {
    if (!changed && !EndpointLoop.isDue(next, now)) {
      return false;
    }
    changed = false;
    next = SCANNING; // before the scan: a connection that is added now either sees it or is seen
    return true;
  }

  /** Ends a scan, which has found when the next one is due. */
  void end(long due) {
    next = due;
  }
}
