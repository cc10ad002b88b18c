// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.ring.RingLayout;
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
 * The server's side of all handshakes of an endpoint: gathers the clients that wait, keeps repeated
 * requests from being taken for new ones, and hands them to the program.
 */
public final class Acceptor {

  /** So many answers are remembered, for clients that ask again because they did not get them. */
  private static final int REMEMBERED = 256;

  /**
   * How many connections {@link #nextToAccept} has made at a time whose clients have not confirmed
   * them, or that no thread has taken: each has its memory.
   */
  static final int MAX_OFFERED = 16;

  /** Another client is accepted beside one that has not confirmed by then. */
  static final long OVERDUE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Another client is accepted in place of one that has not confirmed by then. */
  static final long WITHDRAW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final String UNUSABLE = "the listener cannot use what the client has made: ";
  private static final String NO_MEMORY = "no memory came with the connect request";
  private static final String NO_RING =
      "its memory begins with no ring of version " + RingLayout.VERSION;

  /** Tells one attempt to connect from all others. */
  record Key(SmAddress client, int clientId) {}

  private final Endpoint endpoint;
  private final int backlog;
  private final WaitingClients waiting = new WaitingClients();

  /** Every handshake between ACCEPT and ACK, for the endpoint's thread to repeat ACCEPT. */
  private final Set<ServerHandshake> unconfirmed = new LinkedHashSet<>();

  /** Those that {@link #nextToAccept} has handed out, and when. The oldest first. */
  private final Map<ServerHandshake, Long> offered = new LinkedHashMap<>();

  /** Those of them whose client has confirmed, to be handed out again. */
  private final ArrayDeque<ServerHandshake> confirmed = new ArrayDeque<>();

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

  Acceptor(Endpoint endpoint, int backlog) {
    this.endpoint = endpoint;
    this.backlog = backlog;
  }

  /**
   * Waits for the next client.
   *
   * @param deadline until when, by {@link System#nanoTime}; only looked at if bounded
   * @param bounded whether there is a deadline
   * @return the client; or null if none came in time, or this is closed
   * @throws InterruptedException if the thread was interrupted
   */
  public synchronized @Nullable ServerHandshake next(boolean bounded, long deadline)
      throws InterruptedException {
    while (!closed) {
      ServerHandshake next = waiting.poll(this::offeredTo);
      if (next != null) {
        return next;
      }
      if (bounded) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          return null;
        }
        wait(left / 1_000_000, (int) (left % 1_000_000));
      } else {
        wait();
      }
    }
    return null;
  }

  /** A thread is going to use {@link #nextToAccept}, until {@link #endAccepting}. */
  public synchronized void beginAccepting() {
    accepting++;
    notifyAll(); // there may be more to do for the others, or less
  }

  /** The end of {@link #beginAccepting}. */
  public synchronized void endAccepting() {
    accepting--;
    notifyAll();
  }

  /**
   * Waits for a client to accept: the next one that waits, which the caller then {@linkplain
   * ServerHandshake#offer offers} the connection or {@linkplain ServerHandshake#abandon abandons};
   * or one that was offered it and has {@linkplain ServerHandshake#isConfirmed confirmed}. No more
   * clients are offered a connection than there are threads to take it, except beside clients that
   * are overdue. So a client that does not answer delays no other client.
   *
   * @param bounded whether there is a deadline
   * @param deadline until when, by {@link System#nanoTime}; only looked at if bounded
   * @return the client; or null if none came in time, or this is closed
   * @throws InterruptedException if the thread was interrupted
   */
  public @Nullable ServerHandshake nextToAccept(boolean bounded, long deadline)
      throws InterruptedException {
    while (true) {
      ServerHandshake tooLate;
      synchronized (this) {
        if (closed) {
          return null;
        }
        long now = System.nanoTime();
        ServerHandshake next = confirmed.poll();
        if (next == null && mayOfferMore(now)) {
          next = waiting.poll(this::offeredTo);
          if (next != null) {
            offered.put(next, now);
          }
        }
        if (next != null) {
          return next;
        }
        tooLate = waiting.size() > 0 ? tooLate(now) : null;
        if (tooLate == null) {
          if (bounded && deadline - now <= 0) {
            return null;
          }
          long nanos = waiting.size() > 0 ? untilNextIsOverdue(now) : Long.MAX_VALUE;
          TimeUnit.NANOSECONDS.timedWait(this, bounded ? Math.min(nanos, deadline - now) : nanos);
          continue;
        }
      }
      tooLate.withdraw();
    }
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

  /** How many connections a client's endpoint was offered and has not confirmed. */
  private int offeredTo(SmAddress client) {
    int count = 0;
    for (ServerHandshake each : offered.keySet()) {
      count += each.client().equals(client) ? 1 : 0;
    }
    return count;
  }

  /**
   * Returns the client to give up if all places are taken by clients that have not confirmed: of
   * the endpoint with the most places the one that is overdue for the longest. Endpoints that have
   * one place each, or as many as the one that waits, keep them for longer. Under the lock.
   */
  private @Nullable ServerHandshake tooLate(long now) {
    SmAddress next = waiting.next(this::offeredTo);
    if (next == null || offered.size() + confirmed.size() < MAX_OFFERED) {
      return null;
    }
    ServerHandshake latest = null;
    int most = 0;
    for (Map.Entry<ServerHandshake, Long> each : offered.entrySet()) {
      int places = offeredTo(each.getKey().client());
      long patience = places > offeredTo(next) + 1 ? OVERDUE_NANOS : WITHDRAW_NANOS;
      if (now - each.getValue() >= patience
          && places > most
          && unconfirmed.contains(each.getKey())) {
        latest = each.getKey();
        most = places;
      }
    }
    return latest;
  }

  /**
   * Gives up the client that has not confirmed for the longest time, if it is overdue, as what it
   * holds is needed for another one.
   *
   * @return whether there was one
   */
  public boolean withdrawOverdue() {
    ServerHandshake oldest = null;
    synchronized (this) {
      long now = System.nanoTime();
      for (Map.Entry<ServerHandshake, Long> each : offered.entrySet()) {
        if (oldest == null
            && unconfirmed.contains(each.getKey())
            && now - each.getValue() >= OVERDUE_NANOS) {
          oldest = each.getKey();
        }
      }
    }
    if (oldest == null) {
      return false;
    }
    oldest.withdraw();
    return true;
  }

  /** The handshakes between ACCEPT and ACK. */
  synchronized List<ServerHandshake> unconfirmed() {
    return unconfirmed.isEmpty() ? List.of() : List.copyOf(unconfirmed);
  }

  /**
   * Tells whether this is closed.
   *
   * @return whether it is
   */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Takes a message from a client; called by the endpoint's thread.
   *
   * @return whether a handshake has taken over the memory
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
    if (memory != null && isWithoutRoom(key)) {
      return false;
    }
    Optional<RingLayout.Descriptor> ring;
    try {
      if (isMemoryLost) {
        throw new PosixException("recvmsg", "the client's memory", LibC.EMFILE());
      }
      ring = memory == null ? Optional.empty() : ServerHandshake.ringOf(memory);
    } catch (PosixException e) {
      turnAwayUnseen(key, unseen(key, e));
      return false;
    }
    if (memory == null || ring.isEmpty()) {
      String reason = memory == null ? NO_MEMORY : NO_RING;
      turnAwayUnseen(key, refusal(key.clientId(), UNUSABLE + reason));
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
        // another process, or another attempt, that goes by the name of one which has ended
        open.remove(key);
        turnedAway.remove(key);
        waiting.remove(known);
        replaced.add(known);
        known = null;
      }
      if (known == null && hasRoomFor(key.client(), replaced)) {
        ServerHandshake handshake =
            new ServerHandshake(this, endpoint, key, generation, message.payload(), memory);
        taken = true;
        open.put(key, handshake);
        waiting.add(handshake);
        notifyAll();
      }
    }
    replaced.forEach(ServerHandshake::cancel);
    if (known != null) {
      known.answerAgain();
    }
    return taken;
  }

  /**
   * Whether a request is dropped, as the backlog is full and stays so. Its memory is not looked at:
   * hundreds of clients may repeat their requests all the time.
   */
  private synchronized boolean isWithoutRoom(Key key) {
    return !closed
        && waiting.size() >= backlog
        && !open.containsKey(key)
        && !turnedAway.containsKey(key)
        && !waiting.mayDisplace(key.client());
  }

  /** Makes room in the backlog, if that is fair. Under the lock. */
  private boolean hasRoomFor(SmAddress client, List<ServerHandshake> replaced) {
    if (waiting.size() < backlog) {
      return true;
    }
    ServerHandshake displaced = waiting.displace(client);
    if (displaced == null) {
      return false;
    }
    open.remove(displaced.key(), displaced); // as if its CONNECT had been lost
    replaced.add(displaced);
    return true;
  }

  /**
   * Turns a client away whose memory cannot be looked at, unless it is known and gets an answer as
   * it is. Not logged: to log for the first time takes descriptors, too.
   */
  private void turnAwayUnseen(Key key, HandshakeMessage answer) {
    if (find(key) == null) {
      endpoint.send(answer, key.client());
    }
  }

  private static HandshakeMessage unseen(Key key, PosixException e) {
    if (e.isShortage()) {
      String fix =
          e.is(LibC.EMFILE(), LibC.ENFILE())
              ? "raise the limit of descriptors there (ulimit -n)"
              : "free memory there, or raise vm.max_map_count";
      return noRoom(key.clientId(), e.getMessage() + "; " + fix);
    }
    return refusal(key.clientId(), unusable(e));
  }

  /**
   * Says why the memory or the FIFO of a client is refused.
   *
   * @param e what was wrong with it
   * @return the reason, for the client
   */
  public static String unusable(PosixException e) {
    String fix =
        e.is(LibC.EACCES(), LibC.EPERM())
            ? "; run both processes as the same user, or let both have a group in common and the"
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

  /** Remembers that a client was turned away, rather than that it is being served. */
  synchronized void turnedAway(ServerHandshake handshake) {
    if (open.remove(handshake.key(), handshake)) {
      turnedAway.put(handshake.key(), handshake);
    }
  }

  /** Forgets a handshake that has failed. */
  synchronized void forget(ServerHandshake handshake) {
    open.remove(handshake.key(), handshake);
    if (offered.remove(handshake) != null) {
      notifyAll(); // there is a place for another client
    }
  }

  /**
   * Remembers that a client is being accepted as a connection of this endpoint.
   *
   * @return false if that is too late for one of {@link #nextToAccept}, since this is closed
   */
  synchronized boolean accepted(ServerHandshake handshake, int serverId) {
    if (closed && offered.containsKey(handshake)) {
      return false;
    }
    accepted.put(serverId, handshake);
    unconfirmed.add(handshake);
    offered.replace(handshake, System.nanoTime()); // not counting the time it took to make
    return true;
  }

  /** A client has confirmed, or failed to. */
  synchronized void settled(ServerHandshake handshake, boolean isConfirmed) {
    unconfirmed.remove(handshake);
    if (!isConfirmed) {
      forget(handshake);
    } else if (offered.remove(handshake) != null) {
      confirmed.add(handshake);
      notifyAll();
    }
  }

  /** Forgets a connection that has ended. */
  synchronized void forget(int serverId) {
    ServerHandshake handshake = accepted.remove(serverId);
    if (handshake != null) {
      open.remove(handshake.key(), handshake);
    }
  }

  /**
   * Listens no more: turns away the clients that wait, and wakes up the program's threads that do.
   */
  public void close() {
    List<ServerHandshake> left;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      waiting.clear();
      left = List.copyOf(open.values()); // also requests that the program has and never answers
      notifyAll();
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

  /** As much of a text as a message can hold, and no half of a character. */
  private static byte[] text(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, HandshakeMessage.MAX_PAYLOAD);
    while (length < text.length && (text[length] & 0xc0) == 0x80) {
      length--;
    }
    return Arrays.copyOf(text, length);
  }
}
