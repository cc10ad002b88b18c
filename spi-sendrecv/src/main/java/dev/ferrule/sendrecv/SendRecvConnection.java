// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.sendrecv.queue.Link;
import dev.ferrule.sendrecv.queue.ReceiveQueue;
import dev.ferrule.sendrecv.queue.SharedReceives;
import dev.ferrule.spi.ConnectionMonitor;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.spi.Lifecycle;
import dev.ferrule.spi.Waiter;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection over a queue pair: its life, from open to closed, lost or broken. What is done for
 * each message is in {@link SendRecvSender} and {@link SendRecvReceiver}.
 */
final class SendRecvConnection implements Connection, Link, SendRecvReceiver.Owner {

  /**
   * How long closing waits for threads that are in a blocking call to come out of it: far longer
   * than they take.
   */
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private static final long FLUSH_PAUSE_NANOS = 20_000;
  private static final int PROBES_PER_TIMEOUT = 4;

  private final URI uri;
  private final ConnectionResources resources;
  private final byte[] peerPayload;
  private final Duration closeTimeout;
  private final long probeNanos;
  private final boolean plain;
  private final boolean credits;
  private final Channel channel;
  private final ReceiveQueue receives;
  private final int capacity;
  private final SendRecvSender sender;
  private final SendRecvReceiver receiver;
  private final Lifecycle life = new Lifecycle(this);
  private final Runnable tick = this::tick;
  private final Consumer<AsyncEvent> asyncEvents = this::onAsyncEvent;
  private final List<Long> watched;

  private volatile boolean peerGone; // whatever is still under way will not be acknowledged
  private long lastProbe = System.nanoTime(); // only by the fabric's thread

  /**
   * Creates a connection of complete resources, which it closes.
   *
   * @param uri names it
   * @param terms what was agreed on
   * @param peerMaxMessage the longest message that the peer takes
   * @param peerPayload what the peer's program had to say
   */
  SendRecvConnection(
      URI uri,
      ConnectionResources resources,
      Channel.Terms terms,
      int peerMaxMessage,
      byte[] peerPayload,
      ConnectionOptions options) {
    this.uri = uri;
    this.resources = resources;
    this.peerPayload = peerPayload;
    this.plain = terms.plain();
    this.credits = terms.credits();
    this.closeTimeout = options.get(StandardOptions.CLOSE_TIMEOUT);
    this.probeNanos = options.get(StandardOptions.PEER_TIMEOUT).toNanos() / PROBES_PER_TIMEOUT;
    WaitStrategy wait = options.get(StandardOptions.WAIT);
    channel =
        new Channel(
            resources.queuePair(),
            resources.sendCompletions(),
            resources.sendMemory(),
            resources.buffers(),
            resources.share(),
            resources.view(),
            terms,
            this);
    receives = resources.receiveQueue();
    receives.add(channel);
    ReceiveGroup group = resources.group();
    if (group != null) {
      group.add(channel);
    }
    sender =
        new SendRecvSender(
            this,
            channel.sends(),
            receives,
            (int) Math.min(peerMaxMessage, resources.sendMemory().segment().byteSize()),
            terms.unacked(),
            new Waiter(wait));
    receiver = new SendRecvReceiver(this, receives, channel.inbox(), new Waiter(wait));
    capacity = terms.receives();
    watched = resources.elements();
    resources.onCompletion(this::wake);
    life.onEnd(ended -> onEnd());
  }

  /**
   * Lets the fabric's thread watch over the connection.
   *
   * @param mailbox where the events of the connection's id have gone so far
   */
  void start(Mailbox mailbox) {
    ConnectionMonitor.opened(this);
    mailbox.handOver(this::onCmEvent);
    resources.device().watch(watched, asyncEvents);
    resources.fabric().addTick(tick);
  }

  /** A peer that is given up must not go on sending, least of all into buffers of others. */
  private void onEnd() {
    if (life.failure() != null) {
      channel.sends().abort();
    }
    wake();
  }

  private void wake() {
    sender.wake();
    receiver.wake();
  }

  /** The connection of a channel. */
  static SendRecvConnection of(Channel channel) {
    return (SendRecvConnection) channel.link(); // there is no other kind
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
  public int capacity() {
    SharedReceives.Share share = resources.share();
    if (share == null) {
      return capacity;
    }
    return credits ? share.capacity() : 0; // without credits, it may have all shared buffers
  }

  private void tick() {
    long now = System.nanoTime();
    if (probeNanos > 0 && now - lastProbe >= probeNanos && !life.hasEnded()) {
      lastProbe = now;
      channel.sends().probe();
      // without credits, a peer that posts no receives may keep a message waiting for ever
      if (credits && channel.sends().stalledProbes() > PROBES_PER_TIMEOUT) {
        life.lost(
            "the peer's device has acknowledged nothing for longer than the option peerTimeout (its"
                + " host is dead, or the link is cut)");
      }
    } else if (!life.hasEnded()) {
      channel.sends().look();
      channel.lookAfterGrants();
    }
  }

  private void onCmEvent(CmEvent event) {
    switch (event.type()) {
      case DISCONNECTED -> {
        // What the peer sent before is there already, the goodbye included.
        receives.drain();
        peerGone = true;
        if (channel.isGoodbyeSaid() || plain) {
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
                  + " (its host is dead, or the link is cut); see the options ackTimeout"
                  + " and retries");
      case RNR_RETRY_EXCEEDED ->
          life.lost(status.text() + "; see the options credits, rnrRetry and receives");
      case FLUSHED -> onFlush();
      // The last two are what rdma_rxe makes of it.
      case LOCAL_LENGTH_ERROR,
          REMOTE_INVALID_REQUEST_ERROR,
          LOCAL_QUEUE_PAIR_OPERATION_ERROR,
          REMOTE_OPERATION_ERROR ->
          life.broken("a message was longer than the receiver's maxMessage: " + status.text());
      default ->
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
    if (Failures.of(uri, failure) instanceof ResourceExhaustedException exhausted) {
      life.fail(exhausted, reason);
    } else {
      life.lost(reason); // the device is gone, or broken
    }
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
    life.checkOpen();
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
        receiver.messages(),
        receiver.bytes(),
        sender.stalls(),
        channel.grants(),
        0,
        0,
        0,
        sender.sleeps() + receiver.sleeps());
  }

  Lifecycle life() {
    return life;
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
    boolean wasOpen = life.closed();
    if (!life.release()) {
      return;
    }
    wake();
    // so that they leave by themselves, and not because the queues go from under them
    sender.awaitNobodyWaiting(PATIENCE_NANOS);
    receiver.awaitNobodyWaiting(PATIENCE_NANOS);
    if (wasOpen) {
      flush(Deadlines.after(flushTimeout));
    }
    giveUp();
  }

  /** Gives up a connection that was made and never started, without a word to the peer. */
  void abandon() {
    life.release();
    giveUp();
  }

  private void giveUp() {
    resources.fabric().removeTick(tick);
    resources.device().unwatch(watched, asyncEvents);
    channel.sends().close();
    resources.destroyQueuePair();
    receives.remove(channel);
    ReceiveGroup group = resources.group();
    if (group != null) {
      group.remove(channel);
    }
    if (group == null || group.queue() == null) {
      receives.close();
    }
    channel.closeReceives();
    sender.closeRegistrations();
    resources.close();
  }

  /** Waits until the peer's device has all that was sent, and tells the peer that this was it. */
  private void flush(long deadline) {
    awaitDrained(deadline);
    if (channel.sends().sayGoodbye()) {
      awaitDrained(Math.max(deadline, System.nanoTime() + PATIENCE_NANOS / 2));
    }
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
