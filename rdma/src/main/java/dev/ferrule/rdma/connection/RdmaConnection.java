// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.Readiness;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.rdma.context.Cleanup;
import dev.ferrule.rdma.context.RdmaAddress;
import dev.ferrule.rdma.onesided.AccessTable;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.spi.ConnectionMonitor;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.CounterSnapshot;
import dev.ferrule.support.Lifecycle;
import dev.ferrule.support.MemoryUses;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.SharedRegistration;
import dev.ferrule.support.Waiter;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection over a queue pair: creates its senders, its receiver and its remote memory access,
 * and returns them to the program.
 *
 * <p>{@link RdmaSenders}, {@link RdmaReceiver} and {@link RdmaRma} are the data path. {@link
 * ConnectionEvents} ends the connection when the device reports a failure, {@link ConnectionTick}
 * when the peer does not answer, and {@link ConnectionCloser} when it is closed.
 */
final class RdmaConnection implements Connection, RdmaReceiver.Owner {

  private static final Optional<String> RMA_PATH = Optional.of("rdma");

  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  private final URI uri;
  private final RdmaConnectionResources resources;
  private final byte[] peerPayload;
  private final Duration closeTimeout;
  private final Agreement agreement;
  private final Lifecycle life = new Lifecycle(this);
  private final ConnectionEvents events;
  private final Channel channel;
  private final ReceiveQueue receives;
  private final RdmaSenders senders;
  private final MemoryUses<RdmaMemoryUse> registeredMemory;
  private final RdmaReceiver receiver;
  private final @Nullable RdmaRma rma;
  private final @Nullable ReadinessDescriptor readiness;
  private final ConnectionTick tick;
  private final ConnectionCloser closer;
  private final Object starting = new Object();

  /**
   * Creates a connection from complete resources, and takes ownership of them.
   *
   * @param address the address that the connection's URI begins with
   * @param agreement the negotiated parameters
   * @param peer the peer's hello; null without a handshake
   */
  RdmaConnection(
      RdmaAddress address,
      RdmaConnectionResources resources,
      Agreement agreement,
      @Nullable Hello peer,
      ResolvedOptions options) {
    this.uri = address.connectionUri(LAST_NUMBER.incrementAndGet());
    this.resources = resources;
    this.peerPayload = peer == null ? new byte[0] : peer.payload();
    this.agreement = agreement;
    this.closeTimeout = options.get(StandardOptions.CLOSE_TIMEOUT);
    boolean flowControlled = agreement.isFlowControlled();
    events = new ConnectionEvents(this, life, resources.protocol(), flowControlled);
    channel = agreement.open(resources.parts(options, events));
    receives = resources.receiveQueue();
    registeredMemory = new MemoryUses<>(RdmaMemoryUse.class, uri, life, this::beginUse);
    WaitStrategy wait = options.get(StandardOptions.WAIT);
    receiver = new RdmaReceiver(this, receives, new Waiter(wait));
    readiness = RdmaFailures.readiness(uri, options);
    if (readiness != null) {
      receiver.showMessages(readiness);
    }
    boolean showsRoom = options.get(StandardOptions.READINESS) == Readiness.Interest.ALL;
    senders =
        new RdmaSenders(
            this,
            channel.sends(),
            receives,
            agreement.peerMaxMessage(),
            options,
            showsRoom ? readiness : null);
    rma = peer == null ? null : makeRma(peer, new Waiter(wait));
    long peerTimeout = options.get(StandardOptions.PEER_TIMEOUT).toNanos();
    tick = new ConnectionTick(life, channel, receives, flowControlled, peerTimeout);
    closer = new ConnectionCloser(this, resources, events);
    resources.onSendEvent(channel.sends()::onEvent);
    life.onEnd(ended -> onEnd());
    receives.add(channel); // other threads may call this object from here on
  }

  private @Nullable RdmaRma makeRma(Hello peer, Waiter waiter) {
    AccessTable table = resources.accessTable();
    return table == null || peer.accessTable() == 0
        ? null
        : new RdmaRma(this, resources.device(), table, peer.accessTable(), channel.sends(), waiter);
  }

  /**
   * Completes the connection and registers it with the event loop. A receiver of all connections
   * may return a message of the connection as soon as it is complete. If the program then closes
   * the connection, the close waits for the registration.
   *
   * @param completing the last step, after which messages may arrive
   * @param minRnrTimer the minimum RNR NAK timer, as the device encodes it
   */
  void start(Runnable completing, int minRnrTimer) {
    synchronized (starting) {
      resources.watch(events::onAsyncEvent);
      completing.run();
      resources.setMinRnrTimer(minRnrTimer);
      ConnectionMonitor.opened(this);
      if (life.hasEnded()) {
        ConnectionMonitor.ended(this); // the end was reported before the start
      }
      resources.rdmaContext().addTick(tick);
    }
  }

  /** Polls all completions of receives, which may include the end of the connection. */
  void drain() {
    receives.drain();
  }

  /** Starts probing the liveness of the peer, which has confirmed the connection. */
  void onConfirmed() {
    tick.startProbing();
  }

  /** Returns whether a message of the peer, or the end of its messages, has been polled. */
  boolean hasReceived() {
    return channel.messages().messagesArrived() > 0 || channel.isEnded();
  }

  /**
   * Handles the events of the connection manager.
   *
   * @param mailbox the queued events of the connection's id
   */
  void handleEvents(Mailbox mailbox) {
    mailbox.handOver(events::onCmEvent);
  }

  private void onEnd() {
    if (life.failure() != null) {
      closer.abort();
    }
    receiver.withdrawRequest();
    senders.withdrawRequests();
    wake();
  }

  /** Wakes all waiting threads, which check their conditions again. */
  void wake() {
    senders.wake();
    receiver.wake();
    RdmaRma access = rma;
    if (access != null) {
      access.wake();
    }
  }

  /** Wakes the threads that wait in a sender. */
  void wakeSenders() {
    senders.wake();
  }

  /** Waits until no thread is waiting in a call, or until a timeout. */
  void awaitNoWaiters(long nanos) {
    senders.awaitNoWaiters(nanos);
    receiver.awaitNoWaiters(nanos);
    RdmaRma access = rma;
    if (access != null) {
      access.awaitNoWaiters(nanos);
    }
  }

  /**
   * Marks the memory as being released: calls that would use it throw. Waits until the accepting
   * thread has started the connection.
   */
  void release() {
    synchronized (starting) {
      life.release();
    }
  }

  /** Ends the readiness and the periodic work. */
  void stop() {
    Cleanup.close(readiness, () -> resources.rdmaContext().removeTick(tick));
  }

  /** Ends the registrations and exposures of the program's memory. */
  void closeProgramMemory() {
    Cleanup.close(registeredMemory::close, rma == null ? null : rma::close);
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

  /** Returns whether the connection has ended, for any reason. */
  boolean hasEnded() {
    return life.hasEnded();
  }

  @Override
  public boolean isAtEnd() {
    return life.hasEnded() || channel.isEnded();
  }

  @Override
  public FerruleException end() {
    return life.endOfStream(channel.isEnded());
  }

  @Override
  public void releaseSpaceToBlockedPeer() {
    channel.releaseSpaceToBlockedPeer();
  }

  @Override
  public boolean isExhausted(int held) {
    return channel.isExhausted(held);
  }

  @Override
  public String allHeldHint() {
    return resources.protocol().texts().allHeld();
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
    if (rma == null) {
      throw new UnsupportedOperationException(
          "remote memory access needs a handshake, which hello=off disables: " + uri);
    }
    return rma.checked();
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
        channel.messages().messagesTaken(),
        channel.messages().bytesTaken(),
        senders.stalls(),
        channel.reports(),
        OptionalLong.empty(), // the device retransmits, and counts retransmissions per port
        OptionalLong.empty(), // the peer's device wakes the peer's threads
        senders.sleeps() + receiver.sleeps() + (rma == null ? 0 : rma.sleeps()),
        RMA_PATH);
  }

  MemoryUses<RdmaMemoryUse> registeredMemory() {
    return registeredMemory;
  }

  Lifecycle life() {
    return life;
  }

  Channel channel() {
    return channel;
  }

  /** Returns the time to wait for the peer when a resource is released, in nanoseconds. */
  long releaseTimeoutNanos() {
    return Math.max(closeTimeout.toNanos(), ConnectionCloser.TIMEOUT_NANOS);
  }

  @Override
  public void close() {
    close(closeTimeout);
  }

  @Override
  public void close(Duration timeout) {
    closer.close(timeout);
  }

  /** Releases a connection that was not completed. Does not wait for the peer. */
  void abandon(String reason) {
    closer.abandon(reason);
  }

  @Override
  public String toString() {
    return uri() + " (" + state() + ")";
  }
}
