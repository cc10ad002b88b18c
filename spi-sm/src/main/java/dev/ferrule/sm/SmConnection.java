// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.Readiness;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.posix.Membarrier;
import dev.ferrule.sm.endpoint.Link;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.RingConsumer;
import dev.ferrule.spi.ConnectionMonitor;
import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.CounterSnapshot;
import dev.ferrule.support.Lifecycle;
import dev.ferrule.support.MemoryUses;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.SharedRegistration;
import dev.ferrule.support.SingleThreadedUse;
import dev.ferrule.support.Threads;
import dev.ferrule.support.Waiter;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.URI;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection over shared memory: its lifecycle, from open to closed, lost or broken. The message
 * path is in its {@link SmSenders} and in {@link SmReceiver}.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class SmConnection implements Connection, Link {

  private static final long PAUSE_NANOS = 100_000;

  /**
   * Delay of a second check after going to sleep, before sleeping without a timeout. membarrier(2)
   * orders the check before the sleep after the peer's check, but some kernels skip a processor
   * that was idle when the process registered for it. A message that the peer has just published is
   * then not lost but late: its store may still be in the processor's store buffer, where it stays
   * for far less than this delay.
   */
  static final long SECOND_CHECK_NANOS = 500_000;

  private final URI uri;
  private final SmConnectionResources resources;
  private final byte[] peerPayload;
  private final Duration closeTimeout;
  private final Duration peerTimeout;
  private final ReceivedRings rings;
  private final SmSenders senders;
  private final SmReceiver receiver;
  private final SmRma rma;
  private final MemoryUses<SmMemoryUse> registeredMemory;
  private final @Nullable ReadinessDescriptor readiness;
  private final Receiver checkedReceiver; // as passed to the program
  private final Rma checkedRma;
  private final SingleThreadedUse receiving = use("receiver");
  private final Lifecycle life = new Lifecycle(this);

  private volatile @Nullable SmListenerReceiver commonReceiver;
  private volatile Runnable releaseAction = () -> {};
  private volatile boolean peerDead;
  private final AtomicInteger closeReason = new AtomicInteger(); // published to the peer
  private volatile long retransmissions;
  private volatile long wakeupsSent;

  /** Creates a connection of complete resources, which it closes. */
  SmConnection(
      URI uri, SmConnectionResources resources, byte[] peerPayload, ResolvedOptions options) {
    this.uri = uri;
    this.resources = resources;
    this.peerPayload = peerPayload;
    this.closeTimeout = options.get(StandardOptions.CLOSE_TIMEOUT);
    this.peerTimeout = options.get(SmOptions.PEER_TIMEOUT);
    WaitStrategy wait = options.get(StandardOptions.WAIT);
    SharedRing own = resources.own();
    SharedRing peer = resources.peerRing();
    boolean fences = own.needsFences() || peer.needsFences();
    registeredMemory = new MemoryUses<>(SmMemoryUse.class, uri, life, this::beginUse);
    readiness = ReadinessDescriptor.ifRequested(options, uri, () -> Failures.openEvent(uri));
    rings = new ReceivedRings(this, own, fences);
    boolean showsRoom = options.get(StandardOptions.READINESS) == Readiness.Interest.ALL;
    senders = new SmSenders(this, peer, fences, wait, showsRoom ? readiness : null);
    receiver = new SmReceiver(this, rings, new Waiter(wait, SECOND_CHECK_NANOS));
    if (readiness != null) {
      receiver.showMessages(readiness);
    }
    rma = new SmRma(this, resources, options, new Waiter(wait, SECOND_CHECK_NANOS));
    checkedReceiver = receiving.check(receiver);
    checkedRma = use("remote memory access").check(rma);
    life.onEnd(ended -> onWakeup());
  }

  private SingleThreadedUse use(String half) {
    return new SingleThreadedUse(() -> "the " + half + " of " + uri());
  }

  /** Checks uses of the receiver, including those by its regions and by the listener's receiver. */
  SingleThreadedUse receiving() {
    return receiving;
  }

  /** Lets the endpoint's thread watch the peer. */
  void start() {
    ConnectionMonitor.opened(this);
    resources.endpoint().addLink(resources.id(), this, resources.peer(), peerTimeout);
  }

  /** Returns whether the peer has sent a message, or has closed its senders or the connection. */
  boolean isUsedByPeer() {
    boolean result =
        closedByPeer() != CloseReason.OPEN || rings.mayHaveNext() || rings.mayBeEnded();
    Reference.reachabilityFence(this);
    return result;
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
    return senders.first().checked();
  }

  @Override
  public Sender newSender() {
    return senders.open();
  }

  @Override
  public Receiver receiver() {
    return checkedReceiver;
  }

  /** Returns the unchecked receiver, for the listener's. */
  SmReceiver ownReceiver() {
    return receiver;
  }

  /** Sets the listener's receiver, to be woken as well. */
  void setCommonReceiver(SmListenerReceiver common) {
    commonReceiver = common;
  }

  /** Returns whether the listener's receiver receives, or has received, the messages. */
  boolean isReceivedBy(SmListenerReceiver candidate) {
    return commonReceiver == candidate;
  }

  /**
   * Sets an action that runs when this side closes the connection, whether or not it has already
   * ended.
   */
  void onRelease(Runnable action) {
    releaseAction = action;
  }

  @Override
  public Rma rma() {
    rma.checkAvailable();
    return checkedRma;
  }

  @Override
  public Readiness readiness() {
    return ReadinessDescriptor.orThrow(readiness, uri);
  }

  @Override
  public byte[] peerPayload() {
    return peerPayload.clone();
  }

  @Override
  public RegisteredMemory register(MemorySegment memory) {
    return registeredMemory.register(memory);
  }

  private SmMemoryUse beginUse(SharedRegistration memory) {
    return new SmMemoryUse(memory, life, rma);
  }

  MemoryUses<SmMemoryUse> registeredMemory() {
    return registeredMemory;
  }

  @Override
  public ConnectionState state() {
    return life.state();
  }

  @Override
  public @Nullable FerruleException failure() {
    return life.failure();
  }

  @Override
  public void onClose(Consumer<Connection> action) {
    life.onEnd(action);
  }

  @Override
  public boolean removeOnClose(Consumer<Connection> action) {
    return life.remove(action);
  }

  @Override
  public CompletionStage<ConnectionState> closed() {
    return life.closed();
  }

  @Override
  public ConnectionCounters counters() {
    return new CounterSnapshot(
        senders.messages(),
        senders.bytes(),
        rings.total(RingConsumer::messages),
        rings.total(RingConsumer::bytes),
        senders.stalls(),
        rings.total(RingConsumer::acknowledgments),
        OptionalLong.of(retransmissions),
        OptionalLong.of(wakeupsSent),
        senders.sleeps() + receiver.sleeps() + rma.sleeps(),
        rma.path());
  }

  /**
   * Returns whether the connection has ended, for any reason. The only state that is checked for
   * each message.
   */
  boolean hasEnded() {
    return life.hasEnded();
  }

  /** Returns whether this side has closed the connection, so that its memory is released. */
  boolean isReleased() {
    return life.isReleased();
  }

  void checkOpen() {
    life.checkOpen();
  }

  void checkNotReleased() {
    life.checkNotReleased();
  }

  /**
   * Returns the exception for receiving when no further message arrives.
   *
   * @param sendersClosed whether the peer has closed its senders
   */
  FerruleException endOfStream(boolean sendersClosed) {
    return life.endOfStream(sendersClosed);
  }

  /** Ends the connection after a protocol violation by the peer; returns the exception to throw. */
  FerruleException failCorrupt(CorruptRingException e) {
    String reason =
        "protocol violation by the peer: " + e.getMessage() + "; the connection was closed";
    fail(new ProtocolException(uri, reason, e), reason, CloseReason.PROTOCOL);
    return life.exception(e);
  }

  /**
   * Ends the connection after a copy from or to the program's own memory has failed with an
   * InternalError, to which the JVM converts a SIGBUS; returns the exception to throw. Compiled
   * code may throw it late, so the extent of the copy is unknown.
   */
  IllegalStateException failOwnFile(InternalError cause) {
    String reason =
        "this program has truncated a file that it sends from or has registered; the"
            + " connection was closed";
    fail(new FerruleException(uri, reason, cause), reason, CloseReason.PROGRAM);
    return new IllegalStateException(uri + ": " + reason, cause);
  }

  FerruleException interrupted(String doing) {
    return new OperationInterruptedException(uri(), "interrupted while waiting to " + doing, null);
  }

  /** Retires the memory if this connection is closed, and no other thread has done so. */
  void retireIfClosed() {
    resources.retireIfClosed();
  }

  /** Wakes the peer by its endpoint's thread; returns whether the wake-up was written. */
  boolean wakePeer() {
    countWakeup();
    return resources.peer().wake();
  }

  /** Counts a wake-up of the peer. */
  void countWakeup() {
    wakeupsSent++; // two threads may lose an increment; the count need not be exact
  }

  @Override
  public void onWakeup() {
    senders.wake();
    receiver.wake();
    rma.wake();
    SmListenerReceiver common = commonReceiver;
    if (common != null) {
      common.wake();
    }
  }

  @Override
  public ConnectionSample sample(int number, long nanos) {
    double fill = isReleased() ? 0 : senders.fill();
    Reference.reachabilityFence(this); // of the rings
    return new ConnectionSample(number, resources.peerName(), nanos, counters(), fill);
  }

  @Override
  public boolean onFragments() {
    return rma.serve();
  }

  @Override
  public boolean hasFragments() {
    return rma.hasToServe();
  }

  /** Returns whether the peer's process has ended. */
  boolean isPeerDead() {
    return peerDead;
  }

  /** Waits briefly for the connection to end. */
  void awaitEnd(long nanos) {
    long deadline = System.nanoTime() + nanos;
    while (!life.hasEnded() && deadline - System.nanoTime() > 0) {
      Threads.pause(PAUSE_NANOS);
    }
  }

  /** Ends the connection because of an action or omission of the peer. */
  void giveUp(String reason) {
    fail(new PeerLostException(uri, reason, null), reason, CloseReason.ACCESS);
  }

  @Override
  public void onPeerClosed() {
    int word = life.hasEnded() ? CloseReason.OPEN : closedByPeer();
    if (word == CloseReason.OPEN) {
      return;
    }
    String reason = CloseReason.describe(word);
    if (reason == null) {
      life.closedByPeer();
    } else {
      life.lost(reason);
    }
  }

  @Override
  public void onPeerGone() {
    if (closedByPeer() != CloseReason.OPEN) {
      onPeerClosed(); // its process may be alive, and about to finish a last copy
    } else {
      peerDead = true;
      life.lost("the peer's process has ended without closing the connection");
    }
  }

  @Override
  public void onPeerSilent() {
    if (closedByPeer() != CloseReason.OPEN) {
      onPeerClosed(); // whose header may have found the FIFO full
      return;
    }
    String reason =
        "the peer's process is alive but has not answered for "
            + StandardOptions.PEER_TIMEOUT.format(peerTimeout)
            + " (stopped, paused or swapped out?); the option "
            + StandardOptions.PEER_TIMEOUT.name()
            + " sets the timeout";
    // the peer reads it when it continues
    fail(new PeerLostException(uri, reason, null), reason, CloseReason.silence(peerTimeout));
  }

  /**
   * Ends the connection at both sides, unless it has ended. The reason for the peer is stored
   * before a callback or another thread closes the connection.
   */
  private void fail(FerruleException failure, String reason, int closeWord) {
    if (life.fail(failure, reason, () -> closeReason.compareAndSet(CloseReason.OPEN, closeWord))) {
      notifyPeer(closeWord);
    }
  }

  /** Returns why the peer has closed the connection, a {@link CloseReason}. */
  private int closedByPeer() {
    int result = rings.first().closeReason();
    Reference.reachabilityFence(this);
    return result;
  }

  /** Ends the connection at the peer, with the first of several reasons. */
  private void notifyPeer(int reason) {
    closeReason.compareAndSet(CloseReason.OPEN, reason);
    senders.first().markClosed(closeReason.get());
    resources.peer().notifyClosed();
    Reference.reachabilityFence(this); // of the memory in which the reason is stored
  }

  @Override
  public void close() {
    close(closeTimeout);
  }

  @Override
  public void close(Duration timeout) {
    // There is nothing to flush: sent messages are in the peer's memory, where the peer finds them
    // after this side has ended. The state changes first, so that every thread that returns from
    // close sees it.
    if (life.close() == Lifecycle.Closing.AGAIN) {
      return;
    }
    life.release();
    rings.stop();
    notifyPeer(CloseReason.CLOSED);
    onWakeup();
    if (readiness != null) {
      readiness.close();
    }
    rma.close();
    registeredMemory.close();
    releaseAction.run();
    // a poll that has begun is visible from here on, and any other sees the closed state
    Membarrier.global();
    Thread closer = Thread.currentThread();
    resources.close(() -> receiver.isPolledByAnother(closer));
  }

  @Override
  public String toString() {
    return uri() + " (" + state() + ")";
  }
}
