// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.util.concurrent.TimeUnit;

/** Retransmission intervals that grow up to a limit and end at a deadline. */
final class Backoff {

  private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final long deadline;
  private long nanos = FIRST_NANOS;

  Backoff(long deadline) {
    this.deadline = deadline;
  }

  /** Returns when to retransmit next if a message is sent now, by {@link System#nanoTime}. */
  long next() {
    long now = System.nanoTime();
    long until = now + Math.min(nanos, Math.max(0, deadline - now));
    nanos = Math.min(2 * nanos, MAX_NANOS);
    return until;
  }

  /** Returns whether the deadline has passed. */
  boolean isOver() {
    return System.nanoTime() - deadline >= 0;
  }
}
