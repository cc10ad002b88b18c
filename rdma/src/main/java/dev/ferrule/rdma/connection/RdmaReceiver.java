// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static java.util.Objects.requireNonNull;

import dev.ferrule.FerruleException;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.posix.Membarrier;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.MessageQueue;
import dev.ferrule.rdma.queue.ReceiveSource;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.SingleThreadedUse;
import dev.ferrule.support.ViewUse;
import dev.ferrule.support.Waiter;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The receiver of a connection, or of all connections of a listener: receives, polls and frees
 * messages of the {@link MessageQueue} of each connection.
 */
final class RdmaReceiver implements Receiver, EventCondition {

  /** The owner of a receiver: a connection, or a listener. */
  interface Owner {

    /** Claims the messages for this receiver; returns false if another receiver has them. */
    boolean claimMessages();

    /** Returns a connection with messages, which is not closed; null if there is none. */
    @Nullable Channel next();

    /** Returns the URI for exceptions. */
    URI uri();

    /** Throws if nothing can be received any more, not even messages that have arrived. */
    void checkUsable();

    /** Returns whether no more messages will arrive. */
    boolean isAtEnd();

    /** Returns the exception to throw if {@link #isAtEnd} returns true. */
    FerruleException end();

    /** Returns the exception for an interrupt of the waiting thread. */
    default FerruleException interrupted(String doing) {
      return new OperationInterruptedException(
          uri(), "interrupted while waiting to " + doing, null);
    }

    /**
     * Makes freed buffer space available to a peer that cannot send without it. A common receiver
     * does this in {@link #next}, for each connection without further messages.
     */
    default void releaseSpaceToBlockedPeer() {}

    /**
     * Returns whether no more messages can arrive before the program frees some of those it holds.
     */
    boolean isExhausted(int held);

    /** Returns the advice for a program that holds all messages for which there are buffers. */
    String allHeldHint();
  }

  private static final int REGIONS_AT_ONCE = 32;

  private final Owner owner;
  private final ReceiveSource queue;
  private final Waiter waiter;
  private RdmaReceiveRegion[] idle = {}; // a stack: the last used one is the warmest in the cache
  private int idleCount;
  private @Nullable Channel next; // the connection of the next message
  private int held;
  private boolean polling;
  private @Nullable Channel entered; // the connection whose messages the handler is reading
  private boolean claimed;
  private final AtomicBoolean requestsMessages = new AtomicBoolean(); // by a readiness
  private volatile ReadinessDescriptor.@Nullable Source readiness;
  private final SingleThreadedUse use;
  private final Receiver checked;

  RdmaReceiver(Owner owner, ReceiveSource queue, Waiter waiter) {
    this.use = new SingleThreadedUse(() -> "the receiver of " + owner.uri());
    this.checked = use.check(this);
    this.owner = owner;
    this.queue = queue;
    this.waiter = waiter;
  }

  /** Makes a readiness descriptor show messages. */
  void showMessages(ReadinessDescriptor descriptor) {
    readiness = descriptor.source(this::requestMessages, this::isHere);
  }

  private void requestMessages() {
    withdrawRequest(); // the request before this one
    queue.arm();
    requestsMessages.set(true);
    if (owner.isAtEnd()) {
      withdrawRequest(); // the thread that ended it may have looked before
    }
  }

  /**
   * Withdraws the readiness's request for events, after the end. Otherwise each event would repeat
   * the request.
   */
  void withdrawRequest() {
    if (requestsMessages.getAndSet(false)) {
      queue.disarm();
    }
  }

  /** Returns this receiver with the check for use by one thread. */
  Receiver checked() {
    return checked;
  }

  @Override
  public @Nullable ReceiveRegion tryReceive() {
    checkMayReceive();
    ReceiveRegion region = isReady() ? take() : null;
    if (region == null) {
      ReadinessDescriptor.foundNothing(readiness);
    }
    return region;
  }

  @Override
  public ReceiveRegion receive() {
    return requireNonNull(receiveUntil(Deadlines.NEVER));
  }

  @Override
  public ReceiveRegion receive(Duration timeout) {
    ReceiveRegion region = receiveUntil(Deadlines.after(timeout));
    if (region == null) {
      ReadinessDescriptor.foundNothing(readiness);
      throw new OperationTimeoutException(
          owner.uri(), "receive timed out: no message arrived", null);
    }
    return region;
  }

  private @Nullable ReceiveRegion receiveUntil(long deadline) {
    checkMayReceive();
    ReceiveRegion region = null;
    while (region == null && (isReady() || waiter.await(this, deadline))) {
      region = take();
    }
    return region;
  }

  private void checkMayReceive() {
    checkMine();
    checkNotPolling();
  }

  /** Throws if no message can arrive any more. Called if none has arrived. */
  private void checkCanWait() {
    if (held > 0 && owner.isExhausted(held)) {
      throw new IllegalStateException(
          "all receive buffers are held by this program, with "
              + held
              + " messages: free some before receiving more, or "
              + owner.allHeldHint());
    }
  }

  private void checkMine() {
    if (!claimed) {
      if (!owner.claimMessages()) {
        owner.checkUsable();
        throw new IllegalStateException(
            "Listener.receiver() receives the messages of this connection: receive from there");
      }
      claimed = true;
    }
  }

  private void checkNotPolling() {
    if (polling) {
      throw new IllegalStateException("a poll's handler must not receive from the same Receiver");
    }
  }

  /**
   * Takes the message; returns null if another receiver has taken it because the listener was
   * closed.
   */
  private @Nullable RdmaReceiveRegion take() {
    if (idleCount == 0) {
      addRegions();
    }
    Channel channel = requireNonNull(next);
    long message = channel.messages().take();
    if (message == MessageQueue.NONE) {
      return null;
    }
    RdmaReceiveRegion region = idle[--idleCount];
    region.lend(channel, MessageQueue.number(message), MessageQueue.length(message));
    held++;
    return region;
  }

  /** Adds regions. Their number is bounded by the messages that the program has held at a time. */
  private void addRegions() {
    idle = new RdmaReceiveRegion[idle.length + REGIONS_AT_ONCE];
    for (int i = 0; i < REGIONS_AT_ONCE; i++) {
      idle[idleCount++] = new RdmaReceiveRegion(this);
    }
  }

  @Override
  public int poll(MessageHandler handler, int limit) {
    if (limit < 1) {
      owner.checkUsable();
      throw new IllegalArgumentException("invalid limit: " + limit + " messages; the minimum is 1");
    }
    checkMine();
    checkNotPolling();
    if (!isHere()) {
      ReadinessDescriptor.foundNothing(readiness);
      return 0;
    }
    int count = 0;
    polling = true;
    try {
      do {
        if (handOver(handler)) {
          count++;
        }
      } while (count < limit && hasNext());
    } finally {
      polling = false;
      leave();
    }
    return count;
  }

  @Override
  public int poll(MessageHandler handler, int limit, Duration timeout) {
    int count = poll(handler, limit);
    if (count > 0 || !timeout.isPositive()) {
      return count;
    }
    long deadline = Deadlines.after(timeout);
    while (count == 0 && waiter.await(this, deadline)) { // or another receiver has taken it
      count = poll(handler, limit);
    }
    if (count == 0) {
      ReadinessDescriptor.foundNothing(readiness);
    }
    return count;
  }

  /**
   * Marks a connection's messages as being read, so that their memory is not freed until the
   * handler returns; see {@link ViewUse}. Consecutive messages of a connection share one mark.
   */
  private void enter(Channel channel) {
    if (channel != entered) {
      leave();
      if (Membarrier.REGISTERED_PRIVATE) {
        channel.viewUse().beginWithoutBarrier();
      } else {
        channel.viewUse().begin();
      }
      entered = channel;
    }
  }

  private void leave() {
    Channel channel = entered;
    if (channel != null) {
      entered = null;
      channel.viewUse().end();
    }
  }

  /**
   * Passes a message to the handler. Returns false if the connection's own receiver has taken it
   * because the listener was closed.
   */
  private boolean handOver(MessageHandler handler) {
    Channel channel = requireNonNull(next);
    long message = channel.messages().take();
    if (message == MessageQueue.NONE) {
      return false;
    }
    int number = MessageQueue.number(message);
    enter(channel);
    try {
      if (!channel.isClosed()) { // otherwise its memory may be freed
        handler.onMessage(channel.view(), channel.offset(number), MessageQueue.length(message));
      }
    } finally {
      channel.free(number);
    }
    return true;
  }

  private boolean hasNext() {
    return findNext() || (queue.poll() && findNext());
  }

  private boolean findNext() {
    next = owner.next();
    return next != null;
  }

  /**
   * Returns whether there is a message to lend to the program; throws if there can never be one.
   */
  @Override
  public boolean isReady() {
    if (isHere()) {
      return true;
    }
    checkCanWait();
    return false;
  }

  /** Returns whether there is a message; throws if no further one can arrive. */
  private boolean isHere() {
    owner.checkUsable();
    if (hasNext()) {
      return true;
    }
    if (!owner.isAtEnd()) {
      owner.releaseSpaceToBlockedPeer();
      return false;
    }
    // the last message may have arrived between the poll and the end
    queue.drain();
    if (findNext()) {
      return true;
    }
    withdrawRequest(); // of the readiness, as nothing will arrive
    throw owner.end();
  }

  @Override
  public void free(ReceiveRegion message) {
    if (!(message instanceof RdmaReceiveRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was received from another connection");
    }
    use.begin();
    try {
      Channel channel = region.giveBack();
      idle[idleCount++] = region;
      held--;
      channel.free(region.number());
    } finally {
      use.end();
    }
  }

  @Override
  public void arm() {
    queue.arm();
  }

  @Override
  public void disarm() {
    queue.disarm();
  }

  @Override
  public RuntimeException interrupted() {
    return owner.interrupted("receive");
  }

  void wake() {
    waiter.wake();
    ReadinessDescriptor.raise(readiness);
  }

  void awaitNoWaiters(long nanos) {
    waiter.awaitNoWaiters(nanos);
  }

  long sleeps() {
    return waiter.sleeps();
  }

  @Override
  public String toString() {
    return "receiver of " + owner.uri();
  }
}
