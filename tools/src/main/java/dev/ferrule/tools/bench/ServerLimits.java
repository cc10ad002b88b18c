// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits on the machine's resources that all clients of one server may use together. Clients are
 * not trusted: over a network, any host that reaches the port can be a client.
 */
public final class ServerLimits {

  /** Maximum number of connected clients, unless a lower one is set. Each may have a thread. */
  public static final int MAX_CLIENTS = 1_024;

  /** Maximum exposed memory: the longest access that a client can measure. */
  static final long MAX_EXPOSED_BYTES = 1L << 30;

  /** Maximum bounces of a cache line in a round; no client requests more. */
  static final long MAX_BOUNCES = 1L << 20;

  /** Maximum messages over a bare ring in a round; no client sends more. */
  static final long MAX_STREAMED = 1L << 27;

  /** Maximum time that the server takes for each message, to simulate a slow program. */
  static final int MAX_PAUSE_NANOS = 1_000_000;

  /** Maximum of these times for all messages of a round. */
  static final long MAX_PAUSES_NANOS = 10_000_000_000L;

  /** Maximum number of floors. Each has a file in memory of about 2 MiB. */
  static final int MAX_FLOORS = 64;

  private static final long ANSWER_NANOS = 5_000_000_000L;

  private final long maxMessage;
  private final boolean local;
  private final int maxClients;
  private final long answerNanos;
  private final Semaphore clients;
  private final Semaphore floors = new Semaphore(MAX_FLOORS);
  private final AtomicLong exposed = new AtomicLong();

  /**
   * Creates the limits of a server.
   *
   * @param maxMessage the maximum length of a message that the server receives, in bytes
   * @param local whether the clients are processes of this host, so that files can be shared
   */
  public ServerLimits(long maxMessage, boolean local) {
    this(maxMessage, local, ANSWER_NANOS);
  }

  ServerLimits(long maxMessage, boolean local, long answerNanos) {
    this(maxMessage, local, MAX_CLIENTS, answerNanos);
  }

  private ServerLimits(long maxMessage, boolean local, int maxClients, long answerNanos) {
    this.maxMessage = maxMessage;
    this.local = local;
    this.maxClients = maxClients;
    this.clients = new Semaphore(maxClients);
    this.answerNanos = answerNanos;
  }

  /**
   * {@return new limits, of which nothing is used, with another maximum number of clients}
   *
   * @param most the maximum number of clients
   */
  public ServerLimits withClients(int most) {
    return new ServerLimits(maxMessage, local, most, answerNanos);
  }

  /** Returns the maximum number of clients. */
  int maxClients() {
    return maxClients;
  }

  /**
   * Returns the maximum time for which a server thread spins on a floor's file without a change by
   * the client, in nanoseconds.
   */
  long answerNanos() {
    return answerNanos;
  }

  /** Adds a client; returns false if the limit is reached. */
  boolean admit() {
    return clients.tryAcquire();
  }

  /** Removes a client. */
  void removeClient() {
    clients.release();
  }

  /** Throws if a client's request exceeds the limits. */
  void check(Round round) {
    if (round.pauseNanos() > MAX_PAUSE_NANOS
        || round.pauseNanos() > 0 && round.count() > MAX_PAUSES_NANOS / round.pauseNanos()) {
      throw new RoundRefusedException(
          "%s pauses of %s ns exceed the limit of %s ns, and %s ns in total"
              .formatted(round.count(), round.pauseNanos(), MAX_PAUSE_NANOS, MAX_PAUSES_NANOS));
    }
    switch (round.kind()) {
      case SINK, CALLS_WARMUP, CALLS -> checkReceived(round);
      case FLOOR -> checkCount(round, MAX_BOUNCES, "bounces");
      case RING_ECHO -> {
        checkCount(round, MAX_BOUNCES, "bounces");
        checkRing(round);
      }
      case RING_SINK -> {
        checkCount(round, MAX_STREAMED, "messages over the bare ring");
        checkRing(round);
      }
      case ECHO, OPEN_FLOOR, EXPOSE, ALLOCATE -> {} // no limit here
    }
  }

  private void checkReceived(Round round) {
    if (round.size() > maxMessage) {
      throw new RoundRefusedException(
          ("messages of %s bytes exceed the server's limit of %s; start it with --option"
                  + " maxMessage=%1$s")
              .formatted(round.size(), maxMessage));
    }
  }

  private static void checkCount(Round round, long most, String what) {
    if (round.count() > most) {
      throw new RoundRefusedException(round.count() + " " + what + " exceed the limit of " + most);
    }
  }

  private static void checkRing(Round round) {
    if (round.size() > BareRing.MAX_PAYLOAD) {
      throw new RoundRefusedException(
          "messages of %s bytes exceed the bare ring's limit of %s"
              .formatted(round.size(), BareRing.MAX_PAYLOAD));
    }
  }

  /**
   * Adds a floor. Returns false if the limit is reached, or the clients are on other hosts and
   * cannot share one.
   */
  boolean openFloor() {
    return local && floors.tryAcquire();
  }

  /** Removes a floor. */
  void closeFloor() {
    floors.release();
  }

  /** Reserves memory to be exposed; throws if the limit is exceeded. */
  void expose(long bytes) {
    if (exposed.addAndGet(bytes) > MAX_EXPOSED_BYTES) {
      exposed.addAndGet(-bytes);
      throw new RoundRefusedException(
          ("%s bytes cannot be exposed: the limit of all clients together is %s bytes; try again"
                  + " when other clients have ended")
              .formatted(bytes, MAX_EXPOSED_BYTES));
    }
  }

  /** Releases exposed memory. */
  void endExposure(long bytes) {
    exposed.addAndGet(-bytes);
  }
}
