// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.endpoint.Datagrams.Received;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.support.Deadlines;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Serves the server's side of all handshakes of an endpoint: queues waiting clients, detects
 * retransmitted requests, and hands new requests to the program.
 *
 * <p>The monitor of this guards all collections and the {@link Offers}. A thread that holds a
 * handshake's monitor may take this one, but not the other way round.
 */
public final class Acceptor {

  /** Number of answers kept for retransmission to clients that did not receive them. */
  private static final int REMEMBERED = 256;

  private static final String UNUSABLE = "the listener cannot use the client's files: ";
  private static final String CLOSED = "the listener was closed";

  /** Identifies one attempt to connect. */
  record Key(SmAddress client, int clientId) {}

  private final Endpoint endpoint;
  private final int backlog;

  private final WaitingClients<ServerHandshake> waiting = new WaitingClients<>();
  private final Offers offers = new Offers(waiting);

  /** The handshakes between ACCEPT and ACK. The endpoint's thread repeats ACCEPT for them. */
  private final Set<ServerHandshake> unconfirmed = new LinkedHashSet<>();

  private final Map<Key, ServerHandshake> open = new HashMap<>();
  private final Map<Integer, ServerHandshake> accepted = new HashMap<>();
  private final LinkedHashMap<Key, ServerHandshake> refused = new LinkedHashMap<>();
  private volatile boolean closed;
  private volatile Runnable onClient = () -> {};

  Acceptor(Endpoint endpoint, int backlog) {
    this.endpoint = endpoint;
    this.backlog = backlog;
  }

  /**
   * Sets the action that runs for each client that begins to wait, or that confirms. It must not
   * block.
   *
   * @param action the action; any thread runs it
   */
  public void onClient(Runnable action) {
    onClient = action;
    action.run(); // clients may be waiting already
  }

  /** {@return whether a client is waiting, or has confirmed and is not returned yet} */
  public synchronized boolean hasClient() {
    return waiting.size() > 0 || offers.hasConfirmed();
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
      ServerHandshake next = waiting.poll(offers);
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
    offers.addAccepting(1);
    notifyAll(); // the number of clients that may be offered a connection has changed
  }

  /** Ends {@link #beginAccepting}. */
  public synchronized void endAccepting() {
    offers.addAccepting(-1);
    notifyAll();
  }

  /**
   * Waits for a client to accept. Returns the next waiting client, or a client that has {@linkplain
   * ServerHandshake#isConfirmed confirmed} an offered connection. The caller {@linkplain
   * ServerHandshake#offer offers} a waiting client a connection or {@linkplain
   * ServerHandshake#abandon abandons} it. The number of offered connections is limited to the
   * number of accepting threads, not counting overdue clients. A client that does not answer
   * therefore delays no other client.
   *
   * @param deadline by {@link System#nanoTime}; or {@link Deadlines#NEVER}
   * @return the client; or null if the deadline passed, or this is closed
   * @throws InterruptedException if the thread was interrupted
   */
  public @Nullable ServerHandshake nextToAccept(long deadline) throws InterruptedException {
    while (true) {
      ServerHandshake clientToWithdraw;
      synchronized (this) {
        if (closed) {
          return null;
        }
        long now = System.nanoTime();
        ServerHandshake next = offers.next(now);
        if (next != null) {
          return next;
        }
        clientToWithdraw = offers.clientToWithdraw(now);
        if (clientToWithdraw == null) {
          long left = Deadlines.left(deadline);
          if (left <= 0) {
            return null;
          }
          long nanos = Math.min(offers.nanosUntilNextIsOverdue(now), left);
          TimeUnit.NANOSECONDS.timedWait(this, nanos);
          continue;
        }
      }
      endpoint.loop().awaitDatagrams(); // it may have confirmed while this process was stopped
      if (isPlaceWanted()) {
        clientToWithdraw.withdraw();
      }
    }
  }

  private synchronized boolean isPlaceWanted() {
    return offers.isPlaceWanted();
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
        endpoint.loop().awaitDatagrams(); // it may have confirmed while this process was stopped
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
    return offers.oldestOverdue();
  }

  /** Repeats or ends the offers for which that is due; returns when the next call is due. */
  long repeatOffers(long now, Guard guard) {
    long next = EndpointLoop.NEVER;
    for (ServerHandshake handshake : unconfirmed()) {
      guard.run(() -> handshake.tick(now));
      next = Math.min(next, handshake.tickAt());
    }
    return next;
  }

  private synchronized List<ServerHandshake> unconfirmed() {
    return List.copyOf(unconfirmed);
  }

  /** {@return whether this is closed} */
  public boolean isClosed() {
    return closed;
  }

  /** Handles a client's message; returns whether a handshake has taken ownership of the memory. */
  boolean receive(Received received) {
    HandshakeMessage message = received.message();
    Key key = new Key(received.from(), message.clientId());
    switch (message.type()) {
      case CONNECT -> {
        return connect(key, received);
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

  private boolean connect(Key key, Received request) {
    PassedMemory memory = request.memory();
    if (memory != null && isWithoutRoom(key, memory)) {
      return false;
    }
    OptionalLong descriptor = generation(key, request);
    if (memory == null || descriptor.isEmpty()) {
      return false;
    }
    long generation = descriptor.getAsLong();
    boolean taken = false;
    ServerHandshake known;
    List<ServerHandshake> replaced = new ArrayList<>();
    synchronized (this) {
      if (closed) {
        endpoint.send(HandshakeMessage.refusal(key.clientId(), CLOSED), key.client());
        return false;
      }
      known = open.containsKey(key) ? open.get(key) : refused.get(key);
      if (known != null && known.generation() != generation) {
        // another process, or another attempt, that reuses the name of one that has ended
        open.remove(key);
        refused.remove(key);
        waiting.remove(known);
        replaced.add(known);
        known = null;
      }
      if (known == null && hasRoomFor(key.client(), memory.sender().uid(), replaced)) {
        ServerHandshake handshake =
            new ServerHandshake(
                this, endpoint, key, generation, request.message().payload(), memory);
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
        && !refused.containsKey(key)
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
   * Returns the generation of a client's ring. Refuses a client whose memory cannot be used, unless
   * the client is known: a known client is answered normally. The refusal is not logged, because
   * the first log record requires file descriptors, too.
   */
  private OptionalLong generation(Key key, Received request) {
    HandshakeMessage answer;
    try {
      PassedMemory memory = request.memory();
      if (request.isMemoryLost()) {
        throw new PosixException("recvmsg", "the client's memory", Errno.EMFILE);
      } else if (memory == null) {
        answer =
            HandshakeMessage.refusal(
                key.clientId(), UNUSABLE + "the connect request passed no memory");
      } else {
        MemorySegment start = memory.file().read(RingLayout.DESCRIPTOR_SIZE);
        Optional<RingLayout.Descriptor> ring = RingLayout.readDescriptor(start);
        if (ring.isPresent()) {
          return OptionalLong.of(ring.get().generation());
        }
        answer =
            HandshakeMessage.refusal(
                key.clientId(), UNUSABLE + "its memory " + RingLayout.flaw(start));
      }
    } catch (PosixException e) {
      answer = unseen(key, e);
    }
    if (find(key) == null) {
      endpoint.send(answer, key.client());
    }
    return OptionalLong.empty();
  }

  private static HandshakeMessage unseen(Key key, PosixException e) {
    if (!e.isShortage()) {
      return HandshakeMessage.refusal(key.clientId(), unusable(e));
    }
    String fix =
        e.is(Errno.EMFILE, Errno.ENFILE)
            ? "raise the listener's limit of file descriptors (ulimit -n)"
            : "free memory on the listener's side, or raise vm.max_map_count";
    return HandshakeMessage.noRoom(key.clientId(), e.getMessage() + "; " + fix);
  }

  /**
   * {@return the reason for refusing a client's memory or FIFO, for the client}
   *
   * @param e the failure
   */
  public static String unusable(PosixException e) {
    String fix = e.is(Errno.EACCES, Errno.EPERM) ? "; " + Access.FIX : "";
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
  synchronized void refused(ServerHandshake handshake) {
    if (open.remove(handshake.key(), handshake)) {
      refused.put(handshake.key(), handshake);
      if (refused.size() > REMEMBERED) {
        refused.pollFirstEntry();
      }
    }
  }

  /** Removes a handshake that has failed. */
  synchronized void forget(ServerHandshake handshake) {
    open.remove(handshake.key(), handshake);
    if (offers.remove(handshake)) {
      notifyAll(); // there is a place for another client
    }
  }

  /**
   * Marks a client as accepted; returns false if it was offered a connection and this is closed.
   */
  synchronized boolean accepted(ServerHandshake handshake, int serverId) {
    if (closed && offers.contains(handshake)) {
      return false;
    }
    accepted.put(serverId, handshake);
    unconfirmed.add(handshake);
    offers.sent(handshake);
    return true;
  }

  /** Handles a client's confirmation, or its failure to confirm. */
  synchronized void resolved(ServerHandshake handshake, boolean isConfirmed) {
    unconfirmed.remove(handshake);
    if (!isConfirmed) {
      forget(handshake);
    } else if (offers.confirm(handshake)) {
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
    left.forEach(handshake -> handshake.refuseUntaken(CLOSED));
    endpoint.stopListening();
  }
}
