// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.support.Threads;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The ownership of a connection's messages, by its own receiver or by the common receiver of all of
 * the listener's connections. The first receiver to claim the messages owns them. The common
 * receiver gives them up when the listener is closed.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class ReceiverOwnership {

  /** The owning receiver. */
  private enum Owner {
    NONE,
    OWN,
    COMMON,

    /** The common receiver, while it processes messages or requests a wake-up. */
    COMMON_BUSY
  }

  private static final long PAUSE_NANOS = 20_000;
  private static final long TIMEOUT_NANOS = 1_000_000_000L;

  private final AtomicReference<Owner> owner = new AtomicReference<>(Owner.NONE);
  private volatile boolean commonEnded;

  /** Claims the messages for the connection's own receiver; false if the common one owns them. */
  boolean claimOwn() {
    long deadline = System.nanoTime() + TIMEOUT_NANOS;
    while (true) {
      Owner now = owner.get();
      boolean free = now == Owner.NONE || (now == Owner.COMMON && commonEnded);
      if (now == Owner.OWN || (free && owner.compareAndSet(now, Owner.OWN))) {
        return true;
      }
      if (!free) {
        if (!commonEnded || System.nanoTime() - deadline > 0) {
          return false;
        }
        Threads.pause(PAUSE_NANOS); // until it has processed the current message
      }
    }
  }

  /**
   * Claims the messages for the common receiver; false if the connection's own receiver owns them.
   */
  boolean claimCommon() {
    return owner.compareAndSet(Owner.NONE, Owner.COMMON) || owner.get() == Owner.COMMON;
  }

  /**
   * Begins processing messages, or requesting a wake-up, for the common receiver; false if it does
   * not own the messages.
   */
  boolean begin() {
    return owner.compareAndSet(Owner.COMMON, Owner.COMMON_BUSY);
  }

  /** Ends {@link #begin}. */
  void end() {
    owner.compareAndSet(Owner.COMMON_BUSY, Owner.COMMON);
  }

  /** Ends the common receiver's ownership. */
  void endCommon() {
    commonEnded = true;
  }
}
