// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.support.Deadlines;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Serves the server's side of all handshakes of an endpoint: queues waiting clients, detects
 * retransmitted requests, and hands new requests to the program.
 */
public final class Acceptor {

  /** Number of answers kept for retransmission to clients that did not receive them. */
  private static final int REMEMBERED = 256;

  /**
   * Maximum number of connections that {@link #nextToAccept} has created and that are either
   * unconfirmed or not yet taken by a thread. Each of them holds memory.
   */
  static final int MAX_OFFERED = 16;

  /** Another client is accepted in addition to one that has not confirmed within this time. */
  static final long OVERDUE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Another client is accepted in place of one that has not confirmed within this time. */
  static final long WITHDRAW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final String UNUSABLE = "the listener cannot use the client's files: ";
  private static final String NO_MEMORY = "the connect request passed no memory";

  /** Identifies one attempt to connect. */
  record Key(SmAddress client, int clientId) {}

  private final Endpoint endpoint;
  private final int backlog;
  private final WaitingClients<ServerHandshake> waiting = new WaitingClients<>();

  /** Every handshake between ACCEPT and ACK, for which the endpoint's thread repeats ACCEPT. */
  private final Set<ServerHandshake> unconfirmed = new LinkedHashSet<>();

  /** The handshakes returned by {@link #nextToAccept}, with the time of return, oldest first. */
  private final Map<ServerHandshake, Long> offered = new LinkedHashMap<>();

  /** The offered handshakes that the client has confirmed, to be returned again. */
  private final ArrayDeque<ServerHandshake> confirmed = new ArrayDeque<>();

  private final WaitingClients.Unconfirmed unconfirmedOffers =
      new WaitingClients.Unconfirmed() {
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
      };

  private int accepting; // threads that use nextToAccept

  private final Map<Key, ServerHandshake> open = new HashMap<>();
  private final Map<Integer, ServerHandshake> accepted = new HashMap<>();
  private final Map<Key, ServerHandshake> turnedAway =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, ServerHandshake> eldest) {
          return size() > REMEMBERED;
        }
      };
  private volatile boolean closed;
  private volatile Runnable onClient = () -> {};

  Acceptor(Endpoint endpoint, int backlog) {
    this.endpoint = endpoint;
    this.backlog = backlog;
  }

  /**
   * Sets an action for each client that begins to wait, or that confirms. It must not block.
   *
   * @param action the action; any thread runs it
   */
  public void onClient(Runnable action) {
    onClient = action;
    action.run(); // clients may be waiting already
  }

  /** {@return whether a client is waiting, or has confirmed and is not returned yet} */
  public synchronized boolean hasClient() {
    return waiting.size() > 0 || !confirmed.isEmpty();
  }

  /**
   * Waits for the next client.
   *
   * @param deadline by {@link System#nanoTime}; or {@link Deadlines#NEVER}
   * @return the client; or null if the deadline passed, or this is closed
   * @throws InterruptedException if the thread was interrupted
   */
  public synchronized @Nullable ServerHandshake next(long deadline) throws InterruptedException {
    while (!closed) {
      ServerHandshake next = waiting.poll(unconfirmedOffers);
      if (next != null) {
        return next;
      }
      long left = Deadlines.left(deadline);
      if (left <= 0) {
        return null;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return null;
  }

  /** Registers a thread that uses {@link #nextToAccept} until {@link #endAccepting}. */
  public synchronized void beginAccepting() {
    accepting++;
    notifyAll(); // the number of clients that may be offered a connection has changed
  }

  /** Ends {@link #beginAccepting}. */
  public synchronized void endAccepting() {
    accepting--;
    notifyAll();
  }

  /**
   * Waits for a client to accept. Returns either the next waiting client, to which the caller then
   * {@linkplain ServerHandshake#offer offers} a connection or which it {@linkplain
   * ServerHandshake#abandon abandons}; or a client that was offered a connection and has
   * {@linkplain ServerHandshake#isConfirmed confirmed} it. The number of offered connections is
   * limited to the number of accepting threads, not counting overdue clients. A client that does
   * not answer therefore delays no other client.
   *
   * @param deadline by {@link System#nanoTime}; or {@link Deadlines#NEVER}
   * @return the client; or null if the deadline passed, or this is closed
   * @throws InterruptedException if the thread was interrupted
   */
  public @Nullable ServerHandshake nextToAccept(long deadline) throws InterruptedException {
    while (true) {
      ServerHandshake tooLate;
      synchronized (this) {
        if (closed) {
          return null;
        }
        long now = System.nanoTime();
        ServerHandshake next = confirmed.poll();
        if (next == null && mayOfferMore(now)) {
          next = waiting.poll(unconfirmedOffers);
          if (next != null) {
            offered.put(next, now);
          }
        }
        if (next != null) {
          return next;
        }
        tooLate = tooLate(now);
        if (tooLate == null) {
          long left = Deadlines.left(deadline);
          if (left <= 0) {
            return null;
          }
          long nanos = waiting.size() > 0 ? untilNextIsOverdue(now) : Long.MAX_VALUE;
          TimeUnit.NANOSECONDS.timedWait(this, Math.min(nanos, left));
          continue;
        }
      }
      endpoint.awaitDatagrams(); // it may have confirmed while this process was stopped
      if (isPlaceWanted()) {
        tooLate.withdraw();
      }
    }
  }

  /** Returns whether a client waits, and all places are taken. */
  private synchronized boolean isPlaceWanted() {
    return waiting.size() > 0 && offered.size() + confirmed.size() >= MAX_OFFERED;
  }

  private long untilNextIsOverdue(long now) {
    long nanos = OVERDUE_NANOS;
    for (long since : offered.values()) {
      long age = now - since;
      long left = age < OVERDUE_NANOS ? OVERDUE_NANOS - age : WITHDRAW_NANOS - age;
      nanos = left > 0 ? Math.min(nanos, left) : nanos;
    }
    return nanos;
  }

  private boolean mayOfferMore(long now) {
    long fresh = offered.values().stream().filter(since -> now - since < OVERDUE_NANOS).count();
    return fresh < accepting && offered.size() + confirmed.size() < MAX_OFFERED;
  }

  /**
   * Returns the client to withdraw when all places are taken by unconfirmed clients: the one that
   * is overdue for the longest time of the user, and of its endpoint, with the most places. Those
   * with no more than one place more than the waiting client's user and endpoint keep theirs
   * longer. The caller holds the lock.
   */
  private @Nullable ServerHandshake tooLate(long now) {
    ServerHandshake next = waiting.next(unconfirmedOffers);
    if (next == null || !isPlaceWanted()) {
      return null;
    }
    ServerHandshake latest = null;
    long most = 0;
    for (Map.Entry<ServerHandshake, Long> each : offered.entrySet()) {
      ServerHandshake handshake = each.getKey();
      int ofUser = unconfirmedOffers.ofUser(handshake.user());
      int ofEndpoint = unconfirmedOffers.ofEndpoint(handshake.client());
      boolean hasMany =
          handshake.user() == next.user()
              ? ofEndpoint > unconfirmedOffers.ofEndpoint(next.client()) + 1
              : ofUser > unconfirmedOffers.ofUser(next.user()) + 1;
      long places = (long) ofUser * (MAX_OFFERED + 1) + ofEndpoint;
      if (now - each.getValue() >= (hasMany ? OVERDUE_NANOS : WITHDRAW_NANOS)
          && places > most
          && unconfirmed.contains(handshake)) {
        latest = handshake;
        most = places;
      }
    }
    return latest;
  }

  /**
   * Withdraws the client that has not confirmed for the longest time, if it is overdue, to free its
   * resources for another client.
   *
   * @return whether a client was withdrawn
   */
  public boolean withdrawOverdue() {
    for (ServerHandshake next = oldestOverdue(); next != null; next = oldestOverdue()) {
      try {
        endpoint.awaitDatagrams(); // it may have confirmed while this process was stopped
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // for the program; this does not wait
      }
      if (next.withdraw()) {
        return true;
      }
    }
    return false;
  }

  private synchronized @Nullable ServerHandshake oldestOverdue() {
    long now = System.nanoTime();
    for (Map.Entry<ServerHandshake, Long> each : offered.entrySet()) {
      if (unconfirmed.contains(each.getKey()) && now - each.getValue() >= OVERDUE_NANOS) {
        return each.getKey();
      }
    }
    return null;
  }

  /** The handshakes between ACCEPT and ACK. */
  synchronized List<ServerHandshake> unconfirmed() {
    return unconfirmed.isEmpty() ? List.of() : List.copyOf(unconfirmed);
  }

  /** {@return whether this is closed} */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Handles a message from a client; called by the endpoint's thread.
   *
   * @return whether a handshake has taken ownership of the memory
   */
  boolean receive(
      HandshakeMessage message,
      SmAddress from,
      @Nullable PassedMemory memory,
      boolean isMemoryLost) {
    Key key = new Key(from, message.clientId());
    switch (message.type()) {
      case CONNECT -> {
        return connect(key, message, memory, isMemoryLost);
      }
      case ACK -> {
        ServerHandshake handshake = find(key);
        if (handshake != null) {
          handshake.acknowledged(message.serverId());
        }
      }
      default -> cancel(key);
    }
    return false;
  }

  private synchronized @Nullable ServerHandshake find(Key key) {
    return open.get(key);
  }

  private boolean connect(
      Key key, HandshakeMessage message, @Nullable PassedMemory memory, boolean isMemoryLost) {
    if (memory != null && isWithoutRoom(key, memory)) {
      return false;
    }
    Optional<RingLayout.Descriptor> ring;
    String flaw = NO_MEMORY;
    try {
      if (isMemoryLost) {
        throw new PosixException("recvmsg", "the client's memory", Errno.EMFILE);
      }
      MemorySegment start = memory == null ? null : ServerHandshake.start(memory);
      ring = start == null ? Optional.empty() : RingLayout.readDescriptor(start);
      if (start != null && ring.isEmpty()) {
        flaw = "its memory " + RingLayout.flaw(start);
      }
    } catch (PosixException e) {
      turnAwayUnseen(key, unseen(key, e));
      return false;
    }
    if (memory == null || ring.isEmpty()) {
      turnAwayUnseen(key, refusal(key.clientId(), UNUSABLE + flaw));
      return false;
    }
    long generation = ring.get().generation();
    boolean taken = false;
    ServerHandshake known;
    List<ServerHandshake> replaced = new ArrayList<>();
    synchronized (this) {
      if (closed) {
        endpoint.send(refusal(key.clientId(), "the listener was closed"), key.client());
        return false;
      }
      known = open.containsKey(key) ? open.get(key) : turnedAway.get(key);
      if (known != null && known.generation() != generation) {
        // another process, or another attempt, that reuses the name of one that has ended
        open.remove(key);
        turnedAway.remove(key);
        waiting.remove(known);
        replaced.add(known);
        known = null;
      }
      if (known == null && hasRoomFor(key.client(), memory.sender().uid(), replaced)) {
        ServerHandshake handshake =
            new ServerHandshake(this, endpoint, key, generation, message.payload(), memory);
        taken = true;
        open.put(key, handshake);
        waiting.add(handshake);
        notifyAll();
        onClient.run();
      }
    }
    replaced.forEach(ServerHandshake::cancel);
    if (known != null) {
      known.answerAgain();
    }
    return taken;
  }

  /**
   * Returns whether a request is dropped because the backlog is full. The memory of a dropped
   * request is not inspected: hundreds of clients may retransmit continuously.
   */
  private synchronized boolean isWithoutRoom(Key key, PassedMemory memory) {
    return !closed
        && waiting.size() >= backlog
        && !open.containsKey(key)
        && !turnedAway.containsKey(key)
        && !waiting.mayDisplace(key.client(), memory.sender().uid());
  }

  /** Makes room in the backlog, if fairness allows it. The caller holds the lock. */
  private boolean hasRoomFor(SmAddress client, int user, List<ServerHandshake> replaced) {
    if (waiting.size() < backlog) {
      return true;
    }
    ServerHandshake displaced = waiting.displace(client, user);
    if (displaced == null) {
      return false;
    }
    open.remove(displaced.key(), displaced); // as if its CONNECT had been lost
    replaced.add(displaced);
    return true;
  }

  /**
   * Refuses a client whose memory cannot be inspected. A known client is answered normally. The
   * refusal is not logged: the first log record requires file descriptors, too.
   */
  private void turnAwayUnseen(Key key, HandshakeMessage answer) {
    if (find(key) == null) {
      endpoint.send(answer, key.client());
    }
  }

  private static HandshakeMessage unseen(Key key, PosixException e) {
    if (e.isShortage()) {
      String fix =
          e.is(Errno.EMFILE, Errno.ENFILE)
              ? "raise the listener's limit of file descriptors (ulimit -n)"
              : "free memory on the listener's side, or raise vm.max_map_count";
      return noRoom(key.clientId(), e.getMessage() + "; " + fix);
    }
    return refusal(key.clientId(), unusable(e));
  }

  /**
   * Returns the reason for refusing a client's memory or FIFO.
   *
   * @param e the failure
   * @return the reason, for the client
   */
  public static String unusable(PosixException e) {
    String fix =
        e.is(Errno.EACCES, Errno.EPERM)
            ? "; run both processes as the same user, or give them a common group and set the"
                + " option access=group"
            : "";
    return UNUSABLE + e.getMessage() + fix;
  }

  private void cancel(Key key) {
    ServerHandshake handshake;
    synchronized (this) {
      handshake = open.get(key);
      if (handshake != null) {
        waiting.remove(handshake);
      }
    }
    if (handshake != null && handshake.cancel()) {
      forget(handshake);
    }
  }

  /** Marks a request as refused instead of served. */
  synchronized void turnedAway(ServerHandshake handshake) {
    if (open.remove(handshake.key(), handshake)) {
      turnedAway.put(handshake.key(), handshake);
    }
  }

  /** Removes a handshake that has failed. */
  synchronized void forget(ServerHandshake handshake) {
    open.remove(handshake.key(), handshake);
    if (offered.remove(handshake) != null) {
      notifyAll(); // there is a place for another client
    }
  }

  /**
   * Marks a client as being accepted as a connection of this endpoint.
   *
   * @return false if this was closed before a client of {@link #nextToAccept} was accepted
   */
  synchronized boolean accepted(ServerHandshake handshake, int serverId) {
    if (closed && offered.containsKey(handshake)) {
      return false;
    }
    accepted.put(serverId, handshake);
    unconfirmed.add(handshake);
    // excludes the time spent creating the connection
    offered.replace(handshake, System.nanoTime());
    return true;
  }

  /** Handles a client's confirmation, or its failure to confirm. */
  synchronized void resolved(ServerHandshake handshake, boolean isConfirmed) {
    unconfirmed.remove(handshake);
    if (!isConfirmed) {
      forget(handshake);
    } else if (offered.remove(handshake) != null) {
      confirmed.add(handshake);
      notifyAll();
      onClient.run();
    }
  }

  /** Removes a connection that has ended. */
  synchronized void forget(int serverId) {
    ServerHandshake handshake = accepted.remove(serverId);
    if (handshake != null) {
      open.remove(handshake.key(), handshake);
    }
  }

  /**
   * Stops listening: refuses the waiting clients, and wakes the program's threads that wait in
   * accept.
   */
  public void close() {
    List<ServerHandshake> left;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      waiting.clear();
      // includes requests that the program holds and never answers
      left = List.copyOf(open.values());
      notifyAll();
      onClient.run();
    }
    left.forEach(handshake -> handshake.refuseUntaken("the listener was closed"));
    endpoint.stopListening();
  }

  static HandshakeMessage refusal(int clientId, String reason) {
    return new HandshakeMessage(Type.REFUSE, clientId, 0, text(reason));
  }

  static HandshakeMessage noRoom(int clientId, String reason) {
    return new HandshakeMessage(Type.NO_ROOM, clientId, 0, text(reason));
  }

  /** Returns the longest prefix of a text that fits in a message, cut at a character boundary. */
  private static byte[] text(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, HandshakeMessage.MAX_PAYLOAD);
    while (length < text.length && (text[length] & 0xc0) == 0x80) {
      length--;
    }
    return Arrays.copyOf(text, length);
  }
}
