// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.os.PosixException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The server's side of all handshakes of an endpoint: gathers the clients that wait, keeps repeated
 * requests from being taken for new ones, and hands them to the program.
 */
public final class Acceptor {

  /** So many answers are remembered, for clients that ask again because they did not get them. */
  private static final int REMEMBERED = 256;

  /** Tells one attempt to connect from all others. */
  record Key(SmAddress client, int clientId) {}

  private final Endpoint endpoint;
  private final int backlog;
  private final ArrayDeque<ServerHandshake> waiting = new ArrayDeque<>();
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
      ServerHandshake next = waiting.poll();
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
    long generation;
    try {
      if (isMemoryLost) {
        throw new PosixException("recvmsg", "the client's memory", LibC.EMFILE());
      }
      generation = memory == null ? 0 : ServerHandshake.generationOf(memory);
    } catch (PosixException e) {
      turnAwayForLackOfRoom(key, e);
      return false;
    }
    if (memory == null || generation == 0) {
      endpoint.send(
          refusal(key.clientId(), "no memory came with the connect request"), key.client());
      return false;
    }
    boolean taken = false;
    ServerHandshake known;
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
        known.cancel();
        known = null;
      }
      if (known == null && waiting.size() < backlog) {
        ServerHandshake handshake =
            new ServerHandshake(this, endpoint, key, generation, message.payload(), memory);
        taken = true;
        open.put(key, handshake);
        waiting.add(handshake);
        notifyAll();
      }
    }
    if (known != null) {
      known.answerAgain();
    }
    return taken;
  }

  /**
   * Tells a client that it cannot even be looked at, unless it is known and gets an answer as it
   * is. Not logged: to log for the first time takes descriptors, too.
   */
  private void turnAwayForLackOfRoom(Key key, PosixException e) {
    if (find(key) == null) {
      String fix =
          e.is(LibC.ENOMEM())
              ? "free memory there, or raise vm.max_map_count"
              : "raise the limit of descriptors there (ulimit -n)";
      endpoint.send(noRoom(key.clientId(), e.getMessage() + "; " + fix), key.client());
    }
  }

  private void cancel(Key key) {
    ServerHandshake handshake;
    synchronized (this) {
      handshake = open.get(key);
      waiting.remove(handshake);
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
  }

  /** Remembers that a client is being accepted as a connection of this endpoint. */
  synchronized void accepted(ServerHandshake handshake, int serverId) {
    accepted.put(serverId, handshake);
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
      left = new ArrayList<>(waiting);
      waiting.clear();
      notifyAll();
    }
    left.forEach(handshake -> handshake.refuse("the listener was closed"));
    endpoint.stopListening();
  }

  static HandshakeMessage refusal(int clientId, String reason) {
    return new HandshakeMessage(Type.REFUSE, clientId, 0, reason.getBytes(StandardCharsets.UTF_8));
  }

  static HandshakeMessage noRoom(int clientId, String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    byte[] cut = Arrays.copyOf(text, Math.min(text.length, HandshakeMessage.MAX_PAYLOAD));
    return new HandshakeMessage(Type.NO_ROOM, clientId, 0, cut);
  }
}
