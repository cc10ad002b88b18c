// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the clients of one server may make it take of its machine, all of them together. A client is
 * not trusted: over a network it is anyone who can reach the port.
 */
public final class ServerLimits {

  /** How many clients may be connected at a time: each has a thread. */
  static final int MAX_CLIENTS = 1_024;

  /** How much memory may be exposed at a time: the longest access that a client can measure. */
  static final long MAX_EXPOSED_BYTES = 1L << 30;

  /** More bounces of a cache line than any client asks for at a time. */
  static final long MAX_BOUNCES = 1L << 20;

  private final long maxMessage;
  private final boolean local;
  private final AtomicInteger clients = new AtomicInteger();
  private final AtomicLong exposed = new AtomicLong();

  /**
   * Creates the limits of a server.
   *
   * @param maxMessage the longest message that the server receives, in bytes
   * @param local whether the clients are processes of this host, so that files can be shared
   */
  public ServerLimits(long maxMessage, boolean local) {
    this.maxMessage = maxMessage;
    this.local = local;
  }

  /** Counts one more client; returns whether there is room for it. */
  boolean admit() {
    if (clients.incrementAndGet() <= MAX_CLIENTS) {
      return true;
    }
    clients.decrementAndGet();
    return false;
  }

  /** Counts a client less. */
  void left() {
    clients.decrementAndGet();
  }

  /**
   * Checks what a client asks for.
   *
   * @throws IllegalArgumentException if it cannot be meant
   */
  void check(Round round) {
    if (round.kind() == Round.Kind.SINK && round.size() > maxMessage) {
      throw new IllegalArgumentException(
          "messages of "
              + round.size()
              + " bytes were announced, and the server takes "
              + maxMessage
              + " at most; start it with --option maxMessage="
              + round.size());
    }
    if (round.kind() == Round.Kind.FLOOR && round.count() > MAX_BOUNCES) {
      throw new IllegalArgumentException(
          round.count() + " bounces were announced; " + MAX_BOUNCES + " is the most");
    }
  }

  /** Returns whether a client can have a cache line in common with the server. */
  boolean sharesLines() {
    return local;
  }

  /**
   * Takes memory to be exposed.
   *
   * @throws IllegalArgumentException if that would be too much
   */
  void expose(long bytes) {
    if (exposed.addAndGet(bytes) > MAX_EXPOSED_BYTES) {
      exposed.addAndGet(-bytes);
      throw new IllegalArgumentException(
          bytes
              + " bytes more cannot be exposed: all clients together may have "
              + MAX_EXPOSED_BYTES
              + "; try again when the others have ended");
    }
  }

  /** Gives exposed memory back. */
  void conceal(long bytes) {
    exposed.addAndGet(-bytes);
  }
}
