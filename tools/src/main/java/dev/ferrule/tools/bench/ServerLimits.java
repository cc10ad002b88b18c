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

  /** More messages over a bare ring than any client sends in a round. */
  static final long MAX_STREAMED = 1L << 27;

  /** How many floors there may be at a time: each has a file of half a MiB in shared memory. */
  static final int MAX_FLOORS = 64;

  private final long maxMessage;
  private final boolean local;
  private final AtomicInteger clients = new AtomicInteger();
  private final AtomicInteger floors = new AtomicInteger();
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
    switch (round.kind()) {
      case FLOOR -> checkCount(round, MAX_BOUNCES, "bounces");
      case RING_ECHO -> {
        checkCount(round, MAX_BOUNCES, "bounces");
        checkRing(round);
      }
      case RING_SINK -> {
        checkCount(round, MAX_STREAMED, "messages over the bare ring");
        checkRing(round);
      }
      default -> {
        // whatever else there is has no limit here
      }
    }
  }

  private static void checkCount(Round round, long most, String what) {
    if (round.count() > most) {
      throw new IllegalArgumentException(
          round.count() + " " + what + " were announced; " + most + " is the most");
    }
  }

  private static void checkRing(Round round) {
    if (round.size() > BareRing.MAX_PAYLOAD) {
      throw new IllegalArgumentException(
          "messages of "
              + round.size()
              + " bytes were announced for the bare ring; "
              + BareRing.MAX_PAYLOAD
              + " is the most");
    }
  }

  /**
   * Counts one more floor, which a client can have in common with the server if both are on one
   * host; returns whether there may be one.
   */
  boolean openFloor() {
    if (!local) {
      return false;
    }
    if (floors.incrementAndGet() <= MAX_FLOORS) {
      return true;
    }
    floors.decrementAndGet();
    return false;
  }

  /** Counts a floor less. */
  void closeFloor() {
    floors.decrementAndGet();
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
