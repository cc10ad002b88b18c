// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.time.Duration;
import java.util.List;

/** The options supported by every provider. */
public final class StandardOptions {

  /** {@code wait}: how blocking calls wait. */
  public static final Option<WaitStrategy> WAIT =
      Option.choice(
          "wait",
          WaitStrategy.class,
          WaitStrategy.ADAPTIVE,
          "how blocking calls wait for the peer");

  /**
   * {@code maxMessage}: the longest message that this side receives, in bytes. Each side sets its
   * own. The default depends on the provider: 1 MiB in {@code sm}, 64 KiB over RDMA, where receive
   * memory is pinned.
   */
  public static final Option<Long> MAX_MESSAGE =
      Option.size("maxMessage", 1, 1L << 30, 1, "the longest message that this side receives")
          .withoutDefault();

  /**
   * {@code connectTimeout}: the maximum time to connect or to accept. A listener that does not
   * exist, or whose process has ended, is detected without waiting for this time. The first
   * connection of a JVM may take some seconds on a busy machine, as classes are loaded.
   */
  public static final Option<Duration> CONNECT_TIMEOUT =
      Option.duration(
          "connectTimeout",
          Duration.ofMillis(1),
          Duration.ofHours(24),
          Duration.ofSeconds(30),
          "how long to wait for the peer when connecting or accepting");

  /**
   * {@code closeTimeout}: the maximum time that {@link Connection#close()} waits for delivery of
   * the messages that were sent.
   */
  public static final Option<Duration> CLOSE_TIMEOUT =
      Option.duration(
          "closeTimeout",
          Duration.ZERO,
          Duration.ofHours(24),
          Duration.ofSeconds(2),
          "how long close waits for the delivery of sent messages");

  /**
   * {@code peerTimeout}: after which time a peer that does not answer the transport's own probes is
   * lost; 0 to 24 h, where 0 is no limit. It is lost within 1¼ times this time, or later over RDMA
   * if many bytes are in flight. This is no idle or reply timeout: a peer whose program is idle or
   * busy is never lost.
   *
   * <p>In {@code sm}, by default 60 s, the peer's JVM answers: a process that is stopped, or in a
   * garbage collection pause of that length, is lost; the death of a process is detected at once,
   * without this option. Over RDMA, by default 10 s, the peer's device answers: a host that is dead
   * or unreachable is lost, a stopped process never. This side's device gives up earlier, by {@code
   * ackTimeout} and {@code retries}: by default half a second after a request, and on an idle
   * connection there is one every quarter of this time.
   */
  public static final Option<Duration> PEER_TIMEOUT =
      Option.duration(
              "peerTimeout",
              Duration.ZERO,
              Duration.ofHours(24),
              Duration.ZERO,
              "how long to wait for a peer that does not answer; 0 is without limit")
          .withoutDefault();

  /** {@code backlog}: the maximum number of clients that wait to be accepted by a listener. */
  public static final Option<Integer> BACKLOG =
      Option.count(
          "backlog",
          1,
          65_536,
          128,
          "how many clients may wait to be accepted; further ones must retry");

  /**
   * {@code readiness}: what makes the descriptor and the channel of {@link Connection#readiness()}
   * and {@link Listener#readiness()} readable.
   */
  public static final Option<Readiness.Interest> READINESS =
      Option.choice(
          "readiness",
          Readiness.Interest.class,
          Readiness.Interest.OFF,
          "what makes the descriptor for epoll and Selector readable: messages, or also room");

  private StandardOptions() {}

  /** {@return all options of this class, in display order} */
  public static List<Option<?>> all() {
    return List.of(
        WAIT, MAX_MESSAGE, CONNECT_TIMEOUT, CLOSE_TIMEOUT, PEER_TIMEOUT, BACKLOG, READINESS);
  }
}
