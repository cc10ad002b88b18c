// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Who takes the messages of a connection: its own receiver, or that of its listener, for all of its
 * connections. It is settled by whoever comes first, and given back when the listener is closed.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class Taker {

  /** Who it is. */
  private enum Who {
    NOBODY,
    OWN,
    COMMON,

    /** The common one, in the middle of a message, or of asking for a wake-up. */
    COMMON_BUSY
  }

  private static final long PAUSE_NANOS = 20_000;
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private final AtomicReference<Who> who = new AtomicReference<>(Who.NOBODY);
  private volatile boolean commonEnded;

  /**
   * Settles that the connection's own receiver takes the messages; false if the common one does.
   */
  boolean claimOwn() {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (true) {
      Who now = who.get();
      if (now == Who.OWN || (now == Who.NOBODY && who.compareAndSet(now, Who.OWN))) {
        return true;
      }
      if (now == Who.COMMON && commonEnded && who.compareAndSet(now, Who.OWN)) {
        return true;
      }
      if (now == Who.COMMON && !commonEnded) {
        return false;
      }
      if (now == Who.COMMON_BUSY) {
        if (!commonEnded || System.nanoTime() - deadline > 0) {
          return false;
        }
        LockSupport.parkNanos(PAUSE_NANOS); // until it is done with what is at hand
      }
    }
  }

  /** The same for the common one; false if the connection's own receiver takes them. */
  boolean claimCommon() {
    return who.compareAndSet(Who.NOBODY, Who.COMMON) || who.get() == Who.COMMON;
  }

  /**
   * The common receiver begins with some messages, or with asking for a wake-up; false if they are
   * not its own.
   */
  boolean begin() {
    return who.compareAndSet(Who.COMMON, Who.COMMON_BUSY);
  }

  /** It is done with that. */
  void end() {
    who.compareAndSet(Who.COMMON_BUSY, Who.COMMON);
  }

  /** The common receiver takes no more. */
  void endCommon() {
    commonEnded = true;
  }
}
