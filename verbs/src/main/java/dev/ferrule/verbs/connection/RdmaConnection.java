// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.spi.ArenaCloser;
import dev.ferrule.spi.ConnectionMonitor;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.spi.Lifecycle;
import dev.ferrule.spi.SingleThreadedUse;
import dev.ferrule.spi.Waiter;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.access.AccessTable;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.endpoint.Cleanup;
import dev.ferrule.verbs.endpoint.LastRequestPatience;
import dev.ferrule.verbs.queue.Channel;
import dev.ferrule.verbs.queue.Link;
import dev.ferrule.verbs.queue.ReceiveQueue;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection over a queue pair: its life, from open to closed, lost or broken. What is done for
 * each message is in {@link RdmaSender} and {@link RdmaReceiver}.
 */
final class RdmaConnection implements Connection, Link, RdmaReceiver.Owner {

  /**
   * How long closing waits for threads that are in a blocking call to come out of it: far longer
   * than they take.
   */
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private static final System.Logger LOGGER = System.getLogger(RdmaConnection.class.getName());

  /** How long closing waits for a device to give up a connection whose peer does not answer. */
  private static final long CLEANUP_NANOS = 100_000_000;

  private static final long FLUSH_PAUSE_NANOS = 20_000;
  private static final int PROBES_PER_TIMEOUT = 4;

  /** All that is looked after in a process depends on the thread that ticks. */
  private static final int LOOKS_PER_TICK = 32;

  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  private final URI uri;
  private final ConnectionResources resources;
  private final byte[] peerPayload;
  private final @Nullable RdmaRma rma;
  private final @Nullable Rma checkedRma; // as the program gets it
  private final Duration closeTimeout;
  private final long probeNanos;
  private final Agreement agreement;
  private final Channel channel;
  private final ReceiveQueue receives;
  private final RdmaSender sender;
  private final RdmaReceiver receiver;
  private final Lifecycle life = new Lifecycle(this);
  private final Object starting = new Object();
  private final Runnable tick = this::tick;
  private final Consumer<AsyncEvent> asyncEvents = this::onAsyncEvent;
  private final List<Long> watched;

  private volatile boolean peerGone; // whatever is still under way will not be acknowledged
  private volatile boolean lastRequestReached; // of the shared receive queue
  private volatile boolean confirmed; // by the peer, which may be a client that was accepted
  private boolean watching; // since it was started
  private volatile long abortedAt = System.nanoTime(); // when it failed, if it has
  private long lastProbe = System.nanoTime(); // only by the fabric's thread

  /**
   * Creates a connection of complete resources, which it closes.
   *
   * @param uri names it
   * @param agreement what was agreed on
   * @param peer what the peer said; null without a handshake
   */
  RdmaConnection(
      URI uri,
      ConnectionResources resources,
      Agreement agreement,
      @Nullable Hello peer,
      ConnectionOptions options) {
    this.uri = uri;
    this.resources = resources;
    this.peerPayload = peer == null ? new byte[0] : peer.payload();
    this.agreement = agreement;
    this.closeTimeout = options.get(StandardOptions.CLOSE_TIMEOUT);
    this.probeNanos = options.get(StandardOptions.PEER_TIMEOUT).toNanos() / PROBES_PER_TIMEOUT;
    WaitStrategy wait = options.get(StandardOptions.WAIT);
    channel = agreement.open(resources.parts(options, this));
    receives = resources.receiveQueue();
    sender =
        new RdmaSender(
            this,
            channel.sends(),
            receives,
            (int) Math.min(agreement.peerMaxMessage(), channel.sends().memory().byteSize()),
            options.get(RdmaOptions.UNACKED),
            new Waiter(wait));
    receiver = new RdmaReceiver(this, receives, channel.arrivals(), new Waiter(wait));
    rma = peer == null ? null : makeRma(peer, new Waiter(wait));
    checkedRma =
        rma == null
            ? null
            : new SingleThreadedUse(() -> "the remote memory access of " + uri()).check(rma);
    watched = resources.elements();
    resources.onSendEvent(channel.sends()::onEvent);
    life.onEnd(ended -> onEnd());
    receives.add(channel); // other threads may call this object from here on
  }

  private @Nullable RdmaRma makeRma(Hello peer, Waiter waiter) {
    AccessTable table = resources.accessTable();
    return table == null || peer.accessTable() == 0
        ? null
        : new RdmaRma(
            this, resources.device().domain(), table, peer.accessTable(), channel.sends(), waiter);
  }

  /** A number for a connection of this process. */
  static long nextNumber() {
    return LAST_NUMBER.incrementAndGet();
  }

  /**
   * Completes the connection and lets the fabric's thread watch over it. Whoever receives for all
   * connections may know of it as soon as it is complete, and close it; but not before it is
   * watched.
   *
   * @param completing the last step, after which messages come
   * @param minRnrTimer how long a peer is to wait that finds no receive; the device's code
   */
  void start(Runnable completing, int minRnrTimer) {
    synchronized (starting) {
      resources.device().watch(watched, asyncEvents);
      watching = true;
      completing.run();
      setMinRnrTimer(minRnrTimer);
      ConnectionMonitor.opened(this);
      if (life.hasEnded()) {
        ConnectionMonitor.ended(this); // it was told of that too early
      }
      resources.fabric().addTick(tick);
    }
  }

  /** A peer may break the protocol as soon as it may send; then that is what is to be told. */
  private void setMinRnrTimer(int code) {
    try {
      resources.queuePair().setMinRnrTimer(code);
    } catch (VerbsException e) {
      if (e.errno() != Errno.EINVAL) {
        throw e;
      }
      LOGGER.log(System.Logger.Level.DEBUG, "the queue pair is in error already", e);
    }
  }

  /** Takes in what has come, the end of the connection perhaps included. */
  void drain() {
    receives.drain();
  }

  /** The peer knows that it is connected: from now on it has to be there. */
  void onConfirmed() {
    confirmed = true;
  }

  /** Returns whether a message of the peer's has come, as far as was polled. */
  boolean isHeardOf() {
    return channel.inbox().isUsed();
  }

  /**
   * Acts on what the connection manager tells.
   *
   * @param mailbox where the events of the connection's id have gone so far
   */
  void heed(Mailbox mailbox) {
    mailbox.handOver(this::onCmEvent);
  }

  /** A peer that is given up must not go on sending, least of all into buffers of others. */
  private void onEnd() {
    if (life.failure() != null) {
      abortedAt = System.nanoTime();
      channel.sends().abort();
    }
    wake();
  }

  private void wake() {
    sender.wake();
    receiver.wake();
    RdmaRma access = rma;
    if (access != null) {
      access.wake();
    }
  }

  /** The connection of a channel. */
  static RdmaConnection of(Channel channel) {
    return (RdmaConnection) channel.link(); // there is no other kind
  }

  @Override
  public void onProgress() {
    wake();
  }

  @Override
  public void checkUsable() {
    life.checkNotReleased();
  }

  @Override
  public boolean hasEnded() {
    return life.hasEnded();
  }

  @Override
  public FerruleException end() {
    return life.exception(null);
  }

  @Override
  public void freeForStarvingPeers() {
    channel.freeForStarvingPeer();
  }

  @Override
  public boolean isExhausted(int held) {
    return channel.isExhausted(held);
  }

  @Override
  public String allHeldHint() {
    return resources.protocol().texts().allHeld();
  }

  private void tick() {
    if (life.hasEnded()) {
      return;
    }
    long now = System.nanoTime();
    if (confirmed && probeNanos > 0 && now - lastProbe >= probeNanos) {
      lastProbe = now;
      probe();
    } else {
      channel.sends().look();
    }
    hearOfReports();
    channel.tick();
  }

  /**
   * What the peer says of earlier reports may have come behind messages that the program does not
   * look at, for it may wait for something else: for room, of this very peer, in the same thread.
   */
  private void hearOfReports() {
    int rounds = 0;
    while (rounds < LOOKS_PER_TICK && channel.isReportHeldUp() && receives.poll()) {
      rounds++;
    }
  }

  private void probe() {
    channel.sends().probe();
    // without flow control, a peer that posts no receives may keep a message waiting for ever
    if (agreement.isFlowControlled() && channel.sends().isStalled(PROBES_PER_TIMEOUT, probeNanos)) {
      life.lost(
          "the peer's device has acknowledged nothing for longer than the option peerTimeout (its"
              + " host is dead, or the link is cut)");
    }
  }

  private void onCmEvent(CmEvent event) {
    switch (event.type()) {
      case DISCONNECTED -> {
        // What the peer sent before is there already, the goodbye included.
        receives.drain();
        peerGone = true;
        if (channel.isGoodbyeSaid() || !channel.sends().saysGoodbye()) {
          life.closedByPeer();
        } else {
          life.lost(
              "the peer has gone without closing the connection (its process has ended, or it"
                  + " gave the connection up after an error of its own)");
        }
      }
      case DEVICE_REMOVAL -> life.lost("the RDMA device is being removed from this host");
      case ADDRESS_CHANGE -> life.lost("the address of the RDMA device has changed");
      default -> {} // of a connection that is made, or that is over
    }
  }

  private void onAsyncEvent(AsyncEvent event) {
    switch (event.type()) {
      case DEVICE_FATAL -> life.lost("the RDMA device reports a fatal error, or is gone");
      case QUEUE_PAIR_FATAL, QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR -> {
        // the completions say what was wrong, if there are any
        channel.sends().look();
        receives.drain();
        life.lost("the queue pair reports an error: " + event.type());
      }
      case COMPLETION_QUEUE_ERROR, SHARED_RECEIVE_QUEUE_ERROR, WORK_QUEUE_FATAL ->
          life.lost("a queue of the connection reports an error: " + event.type());
      case LAST_WORK_REQUEST_REACHED -> lastRequestReached = true;
      default -> {} // the rest ends nothing
    }
  }

  @Override
  public void onGoodbye() {
    peerGone = true;
    life.closedByPeer();
  }

  @Override
  public void onFailure(CompletionStatus status, int vendorError) {
    if (life.hasEnded()) {
      return;
    }
    switch (status) {
      case RETRY_EXCEEDED, RESPONSE_TIMEOUT ->
          life.lost(
              status.text()
                  + (agreement.isFlowControlled()
                      ? " (its host is dead, or the link is cut); see the options ackTimeout and"
                          + " retries"
                      : ": its host is dead, or the link is cut; or its program has no receive posted"
                          + " (RNR), and the RNR timer of its device is longer than ackTimeout: raise"
                          + " ackTimeout or retries, or have it post receives"));
      case RNR_RETRY_EXCEEDED ->
          life.lost(status.text() + "; " + resources.protocol().texts().receiverNotReady());
      case FLUSHED -> onFlush();
      default -> onError(status, vendorError);
    }
  }

  private void onError(CompletionStatus status, int vendorError) {
    String violation = resources.protocol().violation(status);
    if (violation != null) {
      life.broken(violation + ": " + status.text());
    } else {
      life.lost(
          "a work request failed: "
              + status.text()
              + " ("
              + status
              + ", vendor error "
              + vendorError
              + ")");
    }
  }

  /** The queue pair is in error, and nothing that failed before has said why. */
  private void onFlush() {
    if (channel.isGoodbyeSaid()) {
      life.closedByPeer();
    } else {
      life.lost(CompletionStatus.FLUSHED.text());
    }
  }

  @Override
  public void onViolation(String reason) {
    life.broken("the peer broke the protocol: " + reason + "; the connection was closed");
  }

  @Override
  public void onPostFailure(String function, int errno) {
    if (life.hasEnded()) {
      return;
    }
    VerbsException failure = new VerbsException(function, "", errno);
    String reason = String.valueOf(failure.getMessage());
    if (RdmaFailures.of(uri, failure) instanceof ResourceExhaustedException exhausted) {
      life.fail(exhausted, reason);
    } else {
      life.lost(reason); // the device is gone, or broken
    }
  }

  @Override
  public void onFault(String reason) {
    life.lost(reason);
  }

  @Override
  public URI uri() {
    return uri;
  }

  @Override
  public Sender sender() {
    if (!agreement.canSend()) {
      throw new IllegalStateException(
          "the connection is simplex, and this side only receives: " + uri);
    }
    return sender.checked();
  }

  @Override
  public Receiver receiver() {
    if (!agreement.canReceive()) {
      throw new IllegalStateException(
          "the connection is simplex, and this side only sends: " + uri);
    }
    return receiver.checked();
  }

  @Override
  public Rma rma() {
    Rma access = checkedRma;
    if (access == null) {
      throw new UnsupportedOperationException(
          "there is no remote memory access with a peer that does not say hello: " + uri);
    }
    return access;
  }

  @Override
  public byte[] peerPayload() {
    return peerPayload.clone();
  }

  @Override
  public RegisteredMemory register(MemorySegment memory) {
    return sender.register(resources.device().domain(), memory);
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
  public ConnectionCounters counters() {
    return new ConnectionCounters(
        sender.messages(),
        sender.bytes(),
        channel.inbox().messagesTaken(),
        channel.inbox().bytesTaken(),
        sender.stalls(),
        channel.reports(),
        OptionalLong.empty(), // the device repeats what is lost, and counts that for its port
        OptionalLong.empty(), // the peer's device wakes the peer
        sender.sleeps() + receiver.sleeps() + (rma == null ? 0 : rma.sleeps()));
  }

  RdmaSender ownSender() {
    return sender;
  }

  Lifecycle life() {
    return life;
  }

  /** How long the program is willing to wait for the peer when it gives something up. */
  long patienceNanos() {
    return Math.max(closeTimeout.toNanos(), PATIENCE_NANOS);
  }

  @Override
  public FerruleException interrupted(String doing) {
    return new OperationInterruptedException(uri, "interrupted while waiting to " + doing, null);
  }

  @Override
  public void close() {
    close(closeTimeout);
  }

  @Override
  public void close(Duration flushTimeout) {
    // the state goes first, so that it is right for every thread that comes back from a close
    Lifecycle.Closing closing = life.close();
    if (closing == Lifecycle.Closing.AGAIN) {
      return;
    }
    synchronized (starting) { // by whoever accepts, who is done with it then
      life.release();
    }
    wake();
    // so that they leave by themselves, and not because the queues go from under them
    sender.awaitNobodyWaiting(PATIENCE_NANOS);
    receiver.awaitNobodyWaiting(PATIENCE_NANOS);
    RdmaRma access = rma;
    if (access != null) {
      access.awaitNobodyWaiting(PATIENCE_NANOS);
    }
    boolean peerAnswers =
        closing == Lifecycle.Closing.OF_OPEN
            ? flush(Deadlines.after(flushTimeout))
            : life.failure() == null;
    giveUp(peerAnswers);
  }

  /** Gives up a connection that was not completed. Does not wait for the peer. */
  void abandon(String reason) {
    life.lost(reason);
    if (life.close() != Lifecycle.Closing.AGAIN) {
      life.release();
      wake();
      giveUp(false);
    }
  }

  /**
   * Gives up what the connection is made of.
   *
   * @param peerAnswers whether the device has nothing under way that the peer does not acknowledge.
   *     Otherwise it may take seconds to let go of the queue pair. Only what is the program's,
   *     which may do with its memory what it likes when the connection is closed, is waited for
   *     then.
   */
  private void giveUp(boolean peerAnswers) {
    Cleanup.close(
        () -> resources.fabric().removeTick(tick),
        channel.sends()::close,
        this::stopQueuePair,
        () -> receives.remove(channel));
    @Nullable AutoCloseable[] programs = {
      channel::closeReceives, sender::closeRegistrations, rma == null ? null : rma::close
    };
    @Nullable AutoCloseable[] devices = {
      resources::destroyQueuePair,
      () -> resources.device().unwatch(watched, asyncEvents),
      resources.isReceiveQueueCommon() ? null : receives
    };
    Thread closer = Thread.currentThread();
    BooleanSupplier isSeen = () -> channel.viewUse().isByAnother(closer);
    if (peerAnswers) {
      Cleanup.close(devices);
      Cleanup.close(programs);
      ArenaCloser.whenUnused(isSeen, resources::close);
    } else {
      Cleanup.close(programs);
      Cleanup.closeAside(
          resources.fabric().isCurrentThread() ? 0 : CLEANUP_NANOS,
          () -> Cleanup.close(devices),
          () -> ArenaCloser.whenUnused(isSeen, resources::close));
    }
  }

  /**
   * Has the queue pair receive nothing more. One that takes its receives from a shared queue may
   * have one in hand, which is lost if it is not waited for; unless the peer has said that nothing
   * more comes.
   */
  private void stopQueuePair() {
    receives.drain();
    boolean mayHoldOne = resources.isReceivingFromShared() && !channel.isGoodbyeSaid();
    resources.stopQueuePair();
    if (!mayHoldOne || resources.fabric().isCurrentThread()) {
      return;
    }
    LastRequestPatience patience = resources.device().lastRequestPatience();
    long since = life.failure() == null ? System.nanoTime() : abortedAt;
    long end = since + patience.nanos();
    while (!lastRequestReached && end - System.nanoTime() > 0) {
      receives.poll();
      LockSupport.parkNanos(FLUSH_PAUSE_NANOS);
    }
    if (watching) {
      patience.waited(lastRequestReached);
    }
  }

  /**
   * Waits until the peer's device has all that was sent, and tells the peer that this was it.
   *
   * @return whether the peer's device has acknowledged all of it
   */
  private boolean flush(long deadline) {
    awaitDrained(deadline);
    if (channel.sends().sayGoodbye()) {
      awaitDrained(Math.max(deadline, System.nanoTime() + PATIENCE_NANOS / 2));
    }
    return peerGone || channel.sends().isDelivered();
  }

  private void awaitDrained(long deadline) {
    while (!peerGone && !channel.sends().isDrained() && deadline - System.nanoTime() > 0) {
      receives.poll(); // the peer may be closing, too
      LockSupport.parkNanos(FLUSH_PAUSE_NANOS);
    }
  }

  @Override
  public String toString() {
    return uri() + " (" + state() + ")";
  }
}
