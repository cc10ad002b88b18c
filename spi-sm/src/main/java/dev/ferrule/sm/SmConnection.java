// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.endpoint.Link;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.RingConsumer;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.spi.ConnectionMonitor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection over shared memory: its life, from open to closed, lost or broken. What is done for
 * each message is in {@link SmSender} and {@link SmReceiver}.
 */
final class SmConnection implements Connection, Link {

  /** How and why a connection ended. */
  private record End(ConnectionState state, String reason, @Nullable FerruleException failure) {}

  private static final System.Logger LOGGER = System.getLogger(SmConnection.class.getName());

  /**
   * How long closing waits for threads that are in a blocking call to come out of it: far longer
   * than they take.
   */
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private final URI uri;
  private final ConnectionResources resources;
  private final byte[] peerPayload;
  private final Duration closeTimeout;
  private final Duration peerTimeout;
  private final RingProducer producer;
  private final RingConsumer consumer;
  private final SmSender sender;
  private final SmReceiver receiver;
  private final List<Consumer<Connection>> closeActions = new ArrayList<>();

  private volatile @Nullable End end; // set once
  private volatile boolean released; // this side has called close
  private volatile long retransmissions;
  private volatile long wakeupsSent;

  /**
   * Creates a connection of complete resources, which it closes.
   *
   * @param uri names it
   * @param peerPayload what the peer's program had to say
   */
  SmConnection(
      URI uri, ConnectionResources resources, byte[] peerPayload, ConnectionOptions options) {
    this.uri = uri;
    this.resources = resources;
    this.peerPayload = peerPayload;
    this.closeTimeout = options.get(StandardOptions.CLOSE_TIMEOUT);
    this.peerTimeout = options.get(StandardOptions.PEER_TIMEOUT);
    WaitStrategy wait = options.get(StandardOptions.WAIT);
    Arena arena = resources.arena();
    SharedRing own = resources.own();
    SharedRing peer = resources.peerRing();
    boolean fences = peer.needsFences();
    producer = new RingProducer(peer.layout(), peer.ring(), peer.buffer(), fences);
    consumer = new RingConsumer(own.layout(), own.ring(), own.buffer(), fences);
    sender = new SmSender(this, producer, peer.layout(), arena, new Waiter(wait));
    receiver = new SmReceiver(this, consumer, own.layout(), arena, new Waiter(wait));
  }

  /** Lets the endpoint's thread watch the peer. */
  void start() {
    ConnectionMonitor.opened(this);
    resources.endpoint().addLink(resources.id(), this, resources.peer(), peerTimeout);
  }

  /** Whether the peer has sent a message, or even closed. */
  boolean isUsedByPeer() {
    try {
      return consumer.isClosedBySender() || consumer.next();
    } catch (CorruptRingException e) {
      throw corrupt(e);
    }
  }

  void countRetransmissions(long count) {
    retransmissions = count;
  }

  @Override
  public URI uri() {
    return uri;
  }

  @Override
  public Sender sender() {
    return sender;
  }

  @Override
  public Receiver receiver() {
    return receiver;
  }

  @Override
  public byte[] peerPayload() {
    return peerPayload.clone();
  }

  @Override
  public RegisteredMemory register(MemorySegment memory) {
    checkOpen();
    return new SmRegisteredMemory(this, memory);
  }

  @Override
  public ConnectionState state() {
    End now = end;
    return now == null ? ConnectionState.OPEN : now.state();
  }

  @Override
  public @Nullable FerruleException failure() {
    End now = end;
    return now == null ? null : now.failure();
  }

  @Override
  public void onClose(Consumer<Connection> action) {
    synchronized (closeActions) {
      if (end == null) {
        closeActions.add(action);
        return;
      }
    }
    run(action);
  }

  @Override
  public ConnectionCounters counters() {
    return new ConnectionCounters(
        sender.messages(),
        sender.bytes(),
        receiver.messages(),
        receiver.bytes(),
        sender.stalls(),
        receiver.acknowledgements(),
        retransmissions,
        0,
        wakeupsSent,
        sender.sleeps() + receiver.sleeps());
  }

  /**
   * Whether the connection has ended, for whatever reason. The one thing that is looked at for each
   * message.
   */
  boolean hasEnded() {
    return end != null;
  }

  /** Whether this side has closed the connection, so that its memory is gone. */
  boolean isReleased() {
    return released;
  }

  void checkOpen() {
    if (end != null) {
      throw ended(null);
    }
  }

  void checkNotReleased() {
    if (released) {
      throw ended(null);
    }
  }

  /** The exception for using a connection that has ended. */
  FerruleException ended(@Nullable Throwable cause) {
    End now = end;
    if (released || now == null || now.state() == ConnectionState.CLOSED) {
      return new ConnectionClosedException(
          uri(), false, "the connection was closed by this side", cause);
    }
    return switch (now.state()) {
      case CLOSED_BY_PEER -> new ConnectionClosedException(uri(), true, now.reason(), cause);
      default ->
          now.failure() instanceof ProtocolException
              ? new ProtocolException(uri(), now.reason(), now.failure())
              : new PeerLostException(uri(), now.reason(), now.failure());
    };
  }

  /**
   * What to throw for an IllegalStateException from memory access: that of a connection closed
   * meanwhile, by another thread.
   */
  RuntimeException memoryGone(IllegalStateException e) {
    if (!released) {
      return e;
    }
    // HotSpot also interrupts a thread which is just using memory that is being closed; nobody has
    // asked for that
    Thread.interrupted();
    return ended(e);
  }

  /** What to throw when the peer has written nonsense; ends the connection. */
  FerruleException corrupt(CorruptRingException e) {
    String reason =
        "the peer broke the protocol: " + e.getMessage() + "; the connection was closed";
    if (end(new End(ConnectionState.FAILED, reason, new ProtocolException(uri(), reason, e)))) {
      tellPeer();
    }
    return ended(e);
  }

  FerruleException interrupted(String doing) {
    return new OperationInterruptedException(uri(), "interrupted while waiting to " + doing, null);
  }

  /** Wakes up the peer, which sleeps. */
  void wakePeer() {
    wakeupsSent++; // two threads may miss each other's; the count need not be exact
    resources.peer().wake();
  }

  @Override
  public void onWakeup() {
    sender.wake();
    receiver.wake();
  }

  @Override
  public void onPeerClosed() {
    if (closedByPeer()) {
      end(new End(ConnectionState.CLOSED_BY_PEER, "the connection was closed by the peer", null));
    }
  }

  @Override
  public void onPeerGone() {
    if (closedByPeer()) {
      onPeerClosed();
    } else {
      lose("the peer's process has ended without closing the connection");
    }
  }

  @Override
  public void onPeerSilent() {
    if (closedByPeer()) {
      onPeerClosed(); // of which the FIFO was too full to tell
      return;
    }
    lose(
        "the peer's process lives but has not answered for "
            + StandardOptions.PEER_TIMEOUT.format(peerTimeout)
            + " (stopped, paused or swapped out?); the option "
            + StandardOptions.PEER_TIMEOUT.name()
            + " sets how long that may take");
  }

  private boolean closedByPeer() {
    try {
      return consumer.isClosedBySender();
    } catch (IllegalStateException e) {
      return false; // closed by this side meanwhile; what the peer did no longer matters
    }
  }

  private void lose(String reason) {
    end(new End(ConnectionState.FAILED, reason, new PeerLostException(uri(), reason, null)));
  }

  /** Ends the connection, if it has not ended yet; returns whether it did. */
  private boolean end(End how) {
    List<Consumer<Connection>> actions;
    synchronized (closeActions) {
      if (end != null) {
        return false;
      }
      end = how;
      actions = List.copyOf(closeActions);
      closeActions.clear();
    }
    onWakeup();
    actions.forEach(this::run);
    ConnectionMonitor.ended(this);
    return true;
  }

  private void run(Consumer<Connection> action) {
    try {
      action.accept(this);
    } catch (Throwable e) { // whatever it is, it must not end the thread of all connections
      LOGGER.log(System.Logger.Level.WARNING, "a close callback of " + uri() + " failed", e);
    }
  }

  private void tellPeer() {
    try {
      producer.markClosed();
      resources.peer().tellClosed();
    } catch (IllegalStateException e) {
      return; // closed by another thread, which has told the peer
    }
  }

  @Override
  public void close() {
    close(closeTimeout);
  }

  @Override
  public void close(Duration flushTimeout) {
    // there is nothing to flush: what was sent is in the peer's memory, where the peer still finds
    // it when this side is gone
    // the state goes first, so that it is right for every thread that comes back from a close
    end(new End(ConnectionState.CLOSED, "the connection was closed by this side", null));
    synchronized (resources) {
      if (released) {
        return;
      }
      released = true;
    }
    tellPeer();
    onWakeup();
    // so that they leave by themselves, and not because the memory goes from under them
    sender.awaitNobodyWaiting(PATIENCE_NANOS);
    receiver.awaitNobodyWaiting(PATIENCE_NANOS);
    resources.close();
  }

  @Override
  public String toString() {
    return uri() + " (" + state() + ")";
  }
}
