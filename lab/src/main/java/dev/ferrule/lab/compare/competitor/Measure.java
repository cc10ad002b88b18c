// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.lab.compare.transport.Mode;
import java.util.Locale;

/** A measure of the comparison. */
public enum Measure {
  /** Half a round trip, in nanoseconds: less is better. */
  LATENCY(Mode.ONE_SENDER, 1, 1, "one way"),

  /** Messages per second, one message per call: more is better. */
  RATE(Mode.ONE_SENDER, 1, 1, "single sends"),

  /** Messages per second, in batches. */
  BATCH_8(Mode.ONE_SENDER, 8, 1, "batches of 8"),
  BATCH_64(Mode.ONE_SENDER, 64, 1, "batches of 64"),

  /** Messages per second from several threads on one connection. */
  SENDERS_2(Mode.SEVERAL_SENDERS, 1, 2, "2 threads on one connection"),
  SENDERS_4(Mode.SEVERAL_SENDERS, 1, 4, "4 threads on one connection"),
  SENDERS_8(Mode.SEVERAL_SENDERS, 1, 8, "8 threads on one connection"),

  /** The time from a send to the return of a blocked receive, in nanoseconds: less is better. */
  WAKE_UP(Mode.BLOCKED_RECEIVER, 1, 1, "wake-up of a blocked receiver, one way");

  /**
   * The time for which the receiver is blocked before it is woken up: many times that to fall
   * asleep.
   */
  public static final long BLOCKED_NANOS = 300_000;

  private final Mode mode;
  private final int batch;
  private final int senders;
  private final String title;

  Measure(Mode mode, int batch, int senders, String title) {
    this.mode = mode;
    this.batch = batch;
    this.senders = senders;
    this.title = title;
  }

  public Mode mode() {
    return mode;
  }

  public int batch() {
    return batch;
  }

  /** {@return the number of sending threads, at least 1} */
  public int senders() {
    return senders;
  }

  /** {@return whether the value is a time in nanoseconds} */
  public boolean isTime() {
    return this == LATENCY || this == WAKE_UP;
  }

  public String title() {
    return title;
  }

  /** Returns the name on command lines and in results, such as {@code batch-8}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
