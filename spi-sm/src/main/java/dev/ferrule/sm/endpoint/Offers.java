// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections that an {@link Acceptor} has offered to waiting clients. Selects the next client,
 * limits the number of offers, and selects the offer to withdraw for another client. A client that
 * does not confirm therefore delays no other client. Not thread-safe: the acceptor's lock guards it
 * and the clients that wait.
 */
final class Offers implements WaitingClients.Unconfirmed {

  /**
   * Maximum number of offered connections that are either unconfirmed or not yet taken by a thread.
   * Each of them holds memory.
   */
  static final int MAX_OFFERED = 16;

  /** Another client is accepted in addition to one that has not confirmed within this time. */
  static final long OVERDUE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Another client is accepted in place of one that has not confirmed within this time. */
  static final long WITHDRAW_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** An unconfirmed offer, with the time when it was made, or when ACCEPT was sent. */
  private record Offer(long since, boolean isSent) {}

  private final WaitingClients<ServerHandshake> waiting;

  /** Oldest first. */
  private final Map<ServerHandshake, Offer> offered = new LinkedHashMap<>();

  /** The offered handshakes that the client has confirmed, to be returned again. */
  private final ArrayDeque<ServerHandshake> confirmed = new ArrayDeque<>();

  private int accepting; // threads

  Offers(WaitingClients<ServerHandshake> waiting) {
    this.waiting = waiting;
  }

  @Override
  public int ofEndpoint(SmAddress client) {
    int count = 0;
    for (ServerHandshake each : offered.keySet()) {
      count += each.client().equals(client) ? 1 : 0;
    }
    return count;
  }

  @Override
  public int ofUser(int user) {
    int count = 0;
    for (ServerHandshake each : offered.keySet()) {
      count += each.user() == user ? 1 : 0;
    }
    return count;
  }

  /** Adds a number of accepting threads, which is negative to remove them. */
  void addAccepting(int threads) {
    accepting += threads;
  }

  /** Returns a client that has confirmed, or else a waiting one to offer a connection to. */
  @Nullable ServerHandshake next(long now) {
    ServerHandshake next = confirmed.poll();
    if (next == null && mayOfferMore(now)) {
      next = waiting.poll(this);
      if (next != null) {
        offered.put(next, new Offer(now, false));
      }
    }
    return next;
  }

  private boolean mayOfferMore(long now) {
    long fresh =
        offered.values().stream().filter(offer -> now - offer.since < OVERDUE_NANOS).count();
    return fresh < accepting && places() < MAX_OFFERED;
  }

  private int places() {
    return offered.size() + confirmed.size();
  }

  boolean hasConfirmed() {
    return !confirmed.isEmpty();
  }

  boolean contains(ServerHandshake handshake) {
    return offered.containsKey(handshake);
  }

  /** Counts an offer's time from now, which excludes the time spent creating the connection. */
  void sent(ServerHandshake handshake) {
    offered.replace(handshake, new Offer(System.nanoTime(), true));
  }

  /** Queues a client that has confirmed for {@link #next}; returns false if it had no offer. */
  boolean confirm(ServerHandshake handshake) {
    return remove(handshake) && confirmed.add(handshake);
  }

  /** Removes an offer; returns false if there was none. */
  boolean remove(ServerHandshake handshake) {
    return offered.remove(handshake) != null;
  }

  /** Returns whether a client waits, and all places are taken. */
  boolean isPlaceWanted() {
    return waiting.size() > 0 && places() >= MAX_OFFERED;
  }

  /**
   * Returns how long {@link #next} and {@link #clientToWithdraw} return null if nothing else
   * happens.
   */
  long nanosUntilNextIsOverdue(long now) {
    if (waiting.size() == 0) {
      return Long.MAX_VALUE;
    }
    long nanos = OVERDUE_NANOS;
    for (Offer offer : offered.values()) {
      long age = now - offer.since;
      long left = age < OVERDUE_NANOS ? OVERDUE_NANOS - age : WITHDRAW_NANOS - age;
      nanos = left > 0 ? Math.min(nanos, left) : nanos;
    }
    return nanos;
  }

  /**
   * Returns the client to withdraw when unconfirmed clients take all places; null if none is
   * overdue. Of the overdue clients, it is the oldest one of the user with the most places, and of
   * that user's endpoint with the most. A client is overdue sooner if its user has at least two
   * places more than the waiting client's user or, for the same user, its endpoint at least two
   * more than the waiting client's endpoint.
   */
  @Nullable ServerHandshake clientToWithdraw(long now) {
    ServerHandshake next = waiting.next(this);
    if (next == null || !isPlaceWanted()) {
      return null;
    }
    ServerHandshake latest = null;
    long most = 0;
    for (Map.Entry<ServerHandshake, Offer> each : offered.entrySet()) {
      ServerHandshake handshake = each.getKey();
      int ofUser = ofUser(handshake.user());
      int ofEndpoint = ofEndpoint(handshake.client());
      boolean hasMany =
          handshake.user() == next.user()
              ? ofEndpoint > ofEndpoint(next.client()) + 1
              : ofUser > ofUser(next.user()) + 1;
      long places = (long) ofUser * (MAX_OFFERED + 1) + ofEndpoint;
      if (places > most
          && isOverdue(each.getValue(), now, hasMany ? OVERDUE_NANOS : WITHDRAW_NANOS)) {
        latest = handshake;
        most = places;
      }
    }
    return latest;
  }

  private static boolean isOverdue(Offer offer, long now, long nanos) {
    return offer.isSent && now - offer.since >= nanos;
  }

  /** Returns the client that has not confirmed for the longest time; null if none is overdue. */
  @Nullable ServerHandshake oldestOverdue() {
    long now = System.nanoTime();
    for (Map.Entry<ServerHandshake, Offer> each : offered.entrySet()) {
      if (isOverdue(each.getValue(), now, OVERDUE_NANOS)) {
        return each.getKey();
      }
    }
    return null;
  }
}
