// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.time.Duration;
import java.util.List;

/** The options that every provider has. */
public final class StandardOptions {

  /** {@code wait}: how blocking calls wait. */
  public static final Option<WaitStrategy> WAIT =
      Option.choice(
          "wait",
          WaitStrategy.class,
          WaitStrategy.ADAPTIVE,
          "how blocking calls wait for the peer");

  /**
   * {@code maxMessage}: the longest message that this side takes, in bytes. Each side sets its own.
   * The RDMA providers have a default of 64 KiB instead of this one, as memory for receiving is
   * pinned there.
   */
  public static final Option<Long> MAX_MESSAGE =
      Option.size(
          "maxMessage", 1, 1L << 30, 1L << 20, "the longest message that this side receives");

  /**
   * {@code connectTimeout}: how long connecting, or accepting, may take. A listener that does not
   * exist, or whose process ends, is noticed without waiting for so long.
   */
  public static final Option<Duration> CONNECT_TIMEOUT =
      Option.duration(
          "connectTimeout",
          Duration.ofMillis(1),
          Duration.ofHours(24),
          Duration.ofSeconds(30),
          "how long connecting or accepting may take until the peer has answered");

  /**
   * {@code closeTimeout}: how long {@link Connection#close()} waits for what was sent to be
   * delivered.
   */
  public static final Option<Duration> CLOSE_TIMEOUT =
      Option.duration(
          "closeTimeout",
          Duration.ZERO,
          Duration.ofHours(24),
          Duration.ofSeconds(2),
          "how long close waits for what was sent to be delivered");

  /**
   * {@code peerTimeout}: how long a peer may be silent until it counts as lost; 0 means for ever.
   * The provider {@code sm} has a default of 60 s instead of this one, as it notices the death of a
   * process without it.
   */
  public static final Option<Duration> PEER_TIMEOUT =
      Option.duration(
          "peerTimeout",
          Duration.ZERO,
          Duration.ofHours(24),
          Duration.ofSeconds(10),
          "how long a peer that lives but does not answer (stopped, paused) is waited for; 0 is for ever");

  /** {@code backlog}: how many clients may wait to be accepted by a listener. */
  public static final Option<Integer> BACKLOG =
      Option.count(
          "backlog",
          1,
          65_536,
          128,
          "how many clients may wait to be accepted; more have to try again");

  private StandardOptions() {}

  /**
   * Returns all options of this class.
   *
   * @return the options, in the order in which to show them
   */
  public static List<Option<?>> all() {
    return List.of(WAIT, MAX_MESSAGE, CONNECT_TIMEOUT, CLOSE_TIMEOUT, PEER_TIMEOUT, BACKLOG);
  }
}
