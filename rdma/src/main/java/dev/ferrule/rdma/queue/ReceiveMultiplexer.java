// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Serves the connections of a common receiver in rotation; they may be on several devices. Messages
 * stay in the queues of their connections, which cannot overflow. This class keeps a list of the
 * connections with messages; a connection is in it at most once. The receiver takes a few messages
 * of each connection in rotation, so no connection starves others. A connection without messages
 * leaves the list, and its freed buffer space is then made available to its peer. It returns when
 * messages arrive or are freed. No method allocates.
 *
 * <p><b>Threads:</b> any number of threads that poll receive queues add connections; one receiver
 * takes messages; any thread may end it.
 */
public final class ReceiveMultiplexer {

  /** The number of messages taken from a connection before the next one is served. */
  static final int TURN = 4;

  /** A list node of a connection. */
  static final class Node {

    private final ReceiveMultiplexer list;
    private volatile @Nullable Channel
        channel; // null after its close: the node may stay in the list
    private final AtomicBoolean listed = new AtomicBoolean();
    private @Nullable Node next; // guarded by the list that the node is in

    Node(ReceiveMultiplexer list, Channel channel) {
      this.list = list;
      this.channel = channel;
    }

    /** Adds the connection to the list, as it may have messages or freed space. By any thread. */
    void offer() {
      list.offer(this);
    }

    boolean isEnded() {
      return list.ended;
    }

    /** Clears the reference to a closed connection. */
    void clear() {
      channel = null;
    }
  }

  private final Runnable wake;
  private final AtomicReference<@Nullable Node> offered =
      new AtomicReference<>(); // the last offered is first
  private volatile boolean ended;

  // The list, in the order of service; used by the receiver.
  private @Nullable Node first;
  private @Nullable Node last;
  private long turnEnd; // the messagesTaken() of the first at which the next is served

  /**
   * Creates an empty list.
   *
   * @param wake wakes threads that wait for messages
   */
  public ReceiveMultiplexer(Runnable wake) {
    this.wake = wake;
  }

  private void offer(Node node) {
    if (ended || node.listed.get() || node.listed.getAndSet(true)) {
      return; // not missed: the receiver checks for messages before and after it removes the node
    }
    Node behind;
    do {
      behind = offered.get();
      node.next = behind;
    } while (!offered.compareAndSet(behind, node));
  }

  void wake() {
    wake.run();
  }

  /**
   * Ends the common receiver: from now on, each connection's own receiver takes its messages. By
   * any thread.
   */
  public void end() {
    ended = true;
    offered.set(null);
  }

  /**
   * Returns the connection to serve next. By the receiver.
   *
   * @return a connection with messages, which is not closed; null if there is none
   */
  public @Nullable Channel next() {
    if (first == null) {
      appendOffered();
    }
    while (first != null && !ended) {
      Node node = first;
      Channel channel = node.channel;
      if (channel == null || channel.isClosed()) {
        removeFirst(); // it stays marked as listed, so it is never offered again
      } else if (!channel.messages().hasNext()) {
        removeFirst();
        node.listed.getAndSet(false);
        if (!channel.messages().hasNext()) {
          channel.releaseSpaceToBlockedPeer(); // the peer may be unable to send before that
        } else if (!node.listed.getAndSet(true)) {
          append(node); // a message arrived while the node was still marked as listed
        }
      } else if (channel.messages().messagesTaken() >= turnEnd) {
        removeFirst();
        append(node);
      } else {
        return channel;
      }
    }
    return null;
  }

  /** Removes the first node; then appends the nodes that were offered since. */
  private void removeFirst() {
    Node node = first;
    if (node != null) {
      first = node.next;
      node.next = null;
      if (first == null) {
        last = null;
      } else {
        beginTurn(first);
      }
    }
    appendOffered();
  }

  private void appendOffered() {
    if (offered.get() == null) {
      return;
    }
    Node node = offered.getAndSet(null);
    Node turned = null;
    while (node != null) { // reverses the order: the first offered becomes the first
      Node behind = node.next;
      node.next = turned;
      turned = node;
      node = behind;
    }
    while (turned != null) {
      Node behind = turned.next;
      append(turned);
      turned = behind;
    }
  }

  private void append(Node node) {
    node.next = null;
    if (last == null) {
      first = node;
      beginTurn(node);
    } else {
      last.next = node;
    }
    last = node;
  }

  private void beginTurn(Node node) {
    Channel channel = node.channel;
    turnEnd = channel == null ? 0 : channel.messages().messagesTaken() + TURN;
  }
}
