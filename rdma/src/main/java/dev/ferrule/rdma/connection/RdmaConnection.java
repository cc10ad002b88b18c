// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.Readiness;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Membarrier;
import dev.ferrule.rdma.context.Cleanup;
import dev.ferrule.rdma.context.LastWqeTimeout;
import dev.ferrule.rdma.onesided.AccessTable;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.QueueCallbacks;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.spi.ConnectionMonitor;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.Lifecycle;
import dev.ferrule.support.MemoryUses;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.SharedRegistration;
import dev.ferrule.support.SingleThreadedUse;
import dev.ferrule.support.Waiter;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
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
 * A connection over a queue pair, and its lifecycle. {@link RdmaSenders} and {@link RdmaReceiver}
 * have the data path.
 */
final class RdmaConnection implements Connection, QueueCallbacks, RdmaReceiver.Owner {

  /** How long closing waits for threads to leave blocking calls: far longer than they need. */
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private static final System.Logger LOGGER = System.getLogger(RdmaConnection.class.getName());

  /** How long closing waits for a device to release a connection whose peer does not answer. */
  private static final long CLEANUP_NANOS = 100_000_000;

  private static final long FLUSH_PAUSE_NANOS = 20_000;
  private static final int PROBES_PER_TIMEOUT = 4;

  /**
   * The number of polls per tick. It is bounded, as the ticks of all connections share a thread.
   */
  private static final int POLLS_PER_TICK = 32;

  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  /**
   * Whether the thread is taking the completions of a failed connection. Connections that share a
   * receive queue may all fail at once: each would take those of the next, and so nest as deep.
   */
  private static final ThreadLocal<Boolean> TAKING_END = ThreadLocal.withInitial(() -> false);

  private final URI uri;
  private final RdmaConnectionResources resources;
  private final byte[] peerPayload;
  private final @Nullable RdmaRma rma;
  private final @Nullable Rma checkedRma; // with the check for use by one thread
  private final Duration closeTimeout;
  private final long probeNanos;
  private final Agreement agreement;
  private final Channel channel;
  private final ReceiveQueue receives;
  private final RdmaSenders senders;
  private final MemoryUses<RdmaMemoryUse> registeredMemory;
  private final RdmaReceiver receiver;
  private final @Nullable ReadinessDescriptor readiness;
  private final Lifecycle life = new Lifecycle(this);
  private final Object starting = new Object();
  private final Runnable tick = this::tick;
  private final Consumer<AsyncEvent> asyncEvents = this::onAsyncEvent;
  private final List<Long> watched;

  private volatile boolean peerGone; // outstanding work requests will not be acknowledged
  private volatile boolean lastRequestReached; // of the shared receive queue
  private volatile boolean confirmed; // by the peer
  private boolean watching; // since it was started
  private volatile long abortedAt = System.nanoTime(); // the time of the failure, if there was one
  private long lastProbe = System.nanoTime(); // only by the event loop

  /**
   * Creates a connection of complete resources and takes ownership of them.
   *
   * @param uri the URI of the connection
   * @param agreement the negotiated parameters
   * @param peer the peer's hello; null without a handshake
   */
  RdmaConnection(
      URI uri,
      RdmaConnectionResources resources,
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
    registeredMemory = new MemoryUses<>(RdmaMemoryUse.class, uri, life, this::beginUse);
    receiver = new RdmaReceiver(this, receives, new Waiter(wait));
    readiness = ReadinessDescriptor.ifRequested(options, uri, () -> RdmaFailures.openEvent(uri));
    if (readiness != null) {
      receiver.showMessages(readiness);
    }
    senders = makeSenders(options);
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

  private RdmaSenders makeSenders(ConnectionOptions options) {
    SendQueue sends = channel.sends();
    int longest = (int) Math.min(agreement.peerMaxMessage(), sends.memory().byteSize());
    int unacked = options.get(RdmaOptions.UNACKED);
    WaitStrategy wait = options.get(StandardOptions.WAIT);
    boolean showsRoom = options.get(StandardOptions.READINESS) == Readiness.Interest.ALL;
    return new RdmaSenders(
        this,
        (name, whenClosed) ->
            new RdmaSender(
                this, name, sends, receives, longest, unacked, new Waiter(wait), whenClosed),
        showsRoom ? readiness : null);
  }

  private @Nullable RdmaRma makeRma(Hello peer, Waiter waiter) {
    AccessTable table = resources.accessTable();
    return table == null || peer.accessTable() == 0
        ? null
        : new RdmaRma(this, resources.device(), table, peer.accessTable(), channel.sends(), waiter);
  }

  /** Returns the next connection number of this process. */
  static long nextNumber() {
    return LAST_NUMBER.incrementAndGet();
  }

  /**
   * Completes the connection and registers it with the event loop. A receiver of all connections
   * may find the connection as soon as it is complete, and may close it, but not before it is
   * registered.
   *
   * @param completing the last step, after which messages may arrive
   * @param minRnrTimer the minimum RNR NAK timer, as the device encodes it
   */
  void start(Runnable completing, int minRnrTimer) {
    synchronized (starting) {
      resources.device().watch(watched, asyncEvents);
      watching = true;
      completing.run();
      setMinRnrTimer(minRnrTimer);
      ConnectionMonitor.opened(this);
      if (life.hasEnded()) {
        ConnectionMonitor.ended(this); // the end was reported before the start
      }
      resources.rdmaContext().addTick(tick);
    }
  }

  /**
   * Sets the timer. If a protocol violation has moved the queue pair to the error state already,
   * that failure is the one to report.
   */
  private void setMinRnrTimer(int code) {
    try {
      resources.queuePair().setMinRnrTimer(code);
    } catch (VerbsException e) {
      if (e.errno() != Errno.EINVAL) {
        throw e;
      }
      LOGGER.log(System.Logger.Level.DEBUG, "the queue pair is already in the error state", e);
    }
  }

  /** Polls all completions of receives, which may include the end of the connection. */
  void drain() {
    receives.drain();
  }

  /** Called when the peer has confirmed the connection: from now on its liveness is probed. */
  void onConfirmed() {
    confirmed = true;
  }

  /** Returns whether a message of the peer has been polled. */
  boolean hasReceived() {
    return channel.messages().messagesArrived() > 0;
  }

  /**
   * Handles the events of the connection manager.
   *
   * @param mailbox the queued events of the connection's id
   */
  void handleEvents(Mailbox mailbox) {
    mailbox.handOver(this::onCmEvent);
  }

  /**
   * After a failure, moves the queue pair to the error state: the peer must not go on sending, in
   * particular not into shared receive buffers.
   */
  private void onEnd() {
    if (life.failure() != null) {
      abortedAt = System.nanoTime();
      channel.sends().abort();
    }
    wake();
  }

  private void wake() {
    senders.wake();
    receiver.wake();
    RdmaRma access = rma;
    if (access != null) {
      access.wake();
    }
  }

  /** Returns the connection of a channel. */
  static RdmaConnection of(Channel channel) {
    return (RdmaConnection) channel.callbacks(); // the only implementation
  }

  @Override
  public void onProgress() {
    wake();
  }

  @Override
  public void onRoom() {
    senders.wake();
  }

  @Override
  public boolean claimMessages() {
    return channel.messages().claim();
  }

  @Override
  public @Nullable Channel next() {
    return channel.messages().hasNext() && !channel.isClosed() ? channel : null;
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
  public void serveStarvingPeers() {
    channel.serveStarvingPeer();
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
    pollForReports();
    channel.tick();
  }

  /**
   * Polls for the answer to an earlier report. The program may not poll, since its thread may be
   * waiting for something else, such as buffer space at this peer.
   */
  private void pollForReports() {
    int rounds = 0;
    while (rounds < POLLS_PER_TICK && channel.isReportHeldUp() && receives.poll()) {
      rounds++;
    }
  }

  private void probe() {
    channel.sends().probe();
    // without flow control, a peer that posts no receives may delay a message without limit
    if (agreement.isFlowControlled() && channel.sends().isStalled(PROBES_PER_TIMEOUT, probeNanos)) {
      life.lost(
          "the peer's device has acknowledged nothing for longer than the option peerTimeout (its"
              + " host is dead, or the link is cut)");
    }
  }

  private void onCmEvent(CmEvent event) {
    switch (event.type()) {
      case DISCONNECTED -> {
        // All earlier messages of the peer have arrived, including the goodbye.
        takeEnd();
        peerGone = true;
        if (channel.isGoodbyeSaid() || !channel.sends().controls().saysGoodbye()) {
          life.closedByPeer();
        } else {
          life.lost(
              "the peer disconnected without closing the connection (its process ended, or an error"
                  + " on its side ended the connection)");
        }
      }
      case DEVICE_REMOVAL -> life.lost("the RDMA device is being removed from this host");
      case ADDRESS_CHANGE -> life.lost("the address of the RDMA device has changed");
      default -> {} // of the handshake, or after the end
    }
  }

  private void onAsyncEvent(AsyncEvent event) {
    switch (event.type()) {
      case DEVICE_FATAL -> life.lost("the RDMA device reports a fatal error, or is gone");
      case QUEUE_PAIR_FATAL, QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR -> {
        // completions, if there are any, have the cause
        channel.sends().look();
        takeEnd();
        life.lost("the queue pair reports an error: " + event.type());
      }
      case COMPLETION_QUEUE_ERROR, SHARED_RECEIVE_QUEUE_ERROR, WORK_QUEUE_FATAL ->
          life.lost("a queue of the connection reports an error: " + event.type());
      case LAST_WORK_REQUEST_REACHED -> lastRequestReached = true;
      default -> {} // other events do not end the connection
    }
  }

  @Override
  public void onGoodbye() {
    peerGone = true;
    life.closedByPeer();
  }

  /** Ends the connection if a completed receive has a reason for it: the program may not poll. */
  private void takeEnd() {
    if (!TAKING_END.get()) {
      TAKING_END.set(true);
      try {
        receives.drain();
      } finally {
        TAKING_END.remove();
      }
    }
    channel.reportEnd();
  }

  @Override
  public void onSendFailure(CompletionStatus status, int vendorError) {
    if (status == CompletionStatus.FLUSHED && !life.hasEnded()) {
      takeEnd(); // a flushed send has no cause of its own
    }
    onFailure(status, vendorError, resources.protocol().violationOfSend(status));
  }

  @Override
  public void onReceiveFailure(CompletionStatus status, int vendorError) {
    onFailure(status, vendorError, resources.protocol().violationOfReceive(status));
  }

  private void onFailure(CompletionStatus status, int vendorError, @Nullable String violation) {
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
                      : ": its host is dead, or the link is cut; or its program has no receive"
                          + " posted (RNR), and the RNR timer of its device is longer than"
                          + " ackTimeout: raise ackTimeout or retries, or post receives at the"
                          + " peer"));
      case RNR_RETRY_EXCEEDED ->
          life.lost(status.text() + "; " + resources.protocol().texts().receiverNotReady());
      case FLUSHED -> onFlush();
      default -> onError(status, vendorError, violation);
    }
  }

  private void onError(CompletionStatus status, int vendorError, @Nullable String violation) {
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

  /** Handles a flushed request without a known cause. */
  private void onFlush() {
    if (channel.isGoodbyeSaid()) {
      life.closedByPeer();
    } else {
      life.lost(CompletionStatus.FLUSHED.text());
    }
  }

  @Override
  public void onViolation(String reason) {
    life.broken("protocol violation by the peer: " + reason + "; the connection was closed");
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
      life.lost(reason); // the device failed or is gone
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
    checkCanSend();
    return senders.first().checked();
  }

  @Override
  public Sender newSender() {
    checkCanSend();
    return senders.open();
  }

  private void checkCanSend() {
    if (!agreement.canSend()) {
      throw new IllegalStateException(
          "the connection is simplex, and this side only receives: " + uri);
    }
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
          "remote memory access needs a handshake, which hello=off disables: " + uri);
    }
    return access;
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

  private RdmaMemoryUse beginUse(SharedRegistration memory) {
    try {
      return new RdmaMemoryUse(memory, this, channel.sends(), resources.device().registrations());
    } catch (VerbsException e) {
      throw RdmaFailures.of(uri, e);
    }
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
        senders.messages(),
        senders.bytes(),
        channel.messages().messagesTaken(),
        channel.messages().bytesTaken(),
        senders.stalls(),
        channel.reports(),
        OptionalLong.empty(), // the device retransmits, and counts that per port
        OptionalLong.empty(), // the peer's device wakes the peer's threads
        senders.sleeps() + receiver.sleeps() + (rma == null ? 0 : rma.sleeps()));
  }

  MemoryUses<RdmaMemoryUse> registeredMemory() {
    return registeredMemory;
  }

  Lifecycle life() {
    return life;
  }

  /** Returns how long to wait for the peer when a resource is released. */
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
    // the state changes first, so every thread that returns from close sees it
    Lifecycle.Closing closing = life.close();
    if (closing == Lifecycle.Closing.AGAIN) {
      return;
    }
    synchronized (starting) { // until the accepting thread has started it
      life.release();
    }
    wake();
    // threads leave their blocking calls before the queues are destroyed
    senders.awaitNoWaiters(PATIENCE_NANOS);
    receiver.awaitNoWaiters(PATIENCE_NANOS);
    RdmaRma access = rma;
    if (access != null) {
      access.awaitNoWaiters(PATIENCE_NANOS);
    }
    boolean peerAnswers =
        closing == Lifecycle.Closing.OF_OPEN
            ? flush(Deadlines.after(flushTimeout))
            : life.failure() == null;
    giveUp(peerAnswers);
  }

  /** Releases a connection that was not completed. Does not wait for the peer. */
  void abandon(String reason) {
    life.lost(reason);
    if (life.close() != Lifecycle.Closing.AGAIN) {
      life.release();
      wake();
      giveUp(false);
    }
  }

  /**
   * Releases the resources of the connection.
   *
   * @param peerAnswers whether the peer has acknowledged all work requests. Otherwise the device
   *     may take seconds to destroy the queue pair. Then only the registrations of the program's
   *     memory are waited for, as the program may reuse it as soon as the connection is closed.
   */
  private void giveUp(boolean peerAnswers) {
    Cleanup.close(
        readiness,
        () -> resources.rdmaContext().removeTick(tick),
        channel.sends()::close,
        this::stopQueuePair,
        () -> receives.remove(channel));
    @Nullable AutoCloseable[] programs = {
      channel::closeReceives, registeredMemory::close, rma == null ? null : rma::close
    };
    @Nullable AutoCloseable[] devices = {
      resources::destroyQueuePair,
      () -> resources.device().unwatch(watched, asyncEvents),
      resources.isReceiveQueueCommon() ? null : receives
    };
    Thread closer = Thread.currentThread();
    BooleanSupplier isSeen =
        () -> {
          if (Membarrier.REGISTERED_PRIVATE) { // else each poll begins with a barrier
            Membarrier.inProcess(); // a poll that has begun is seen, or sees the closed state
          }
          return channel.viewUse().isByAnother(closer);
        };
    if (peerAnswers) {
      Cleanup.close(devices);
      Cleanup.close(programs);
      resources.close(isSeen);
    } else {
      Cleanup.close(programs);
      Cleanup.closeAside(
          resources.rdmaContext().isCurrentThread() ? 0 : CLEANUP_NANOS,
          () -> Cleanup.close(devices),
          () -> resources.close(isSeen));
    }
  }

  /**
   * Stops receiving. A queue pair of a shared receive queue may have taken a receive that has not
   * completed. Its buffer is lost unless its completion is awaited. After a goodbye of the peer
   * there is none.
   */
  private void stopQueuePair() {
    receives.drain();
    boolean mayHoldOne = resources.isReceivingFromShared() && !channel.isGoodbyeSaid();
    resources.stopQueuePair();
    if (!mayHoldOne || resources.rdmaContext().isCurrentThread()) {
      return;
    }
    LastWqeTimeout patience = resources.device().lastRequestPatience();
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
   * Waits until the peer's device has acknowledged all messages, and sends a goodbye.
   *
   * @return whether the peer's device has acknowledged everything
   */
  private boolean flush(long deadline) {
    awaitDrained(deadline);
    if (channel.sends().controls().sayGoodbye()) {
      awaitDrained(Math.max(deadline, System.nanoTime() + PATIENCE_NANOS / 2));
    }
    return peerGone || channel.sends().isDelivered();
  }

  private void awaitDrained(long deadline) {
    while (!peerGone && !channel.sends().isDrained() && deadline - System.nanoTime() > 0) {
      receives.poll(); // the peer may be closing as well
      LockSupport.parkNanos(FLUSH_PAUSE_NANOS);
    }
  }

  @Override
  public String toString() {
    return uri() + " (" + state() + ")";
  }
}
