// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.support.ViewUse;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.QueuePair;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One connection's send queue and received messages. The protocol of a provider defines the meaning
 * of receive completions and the location of messages.
 *
 * <p><b>Threads:</b> the receiver's thread frees messages; the other methods state their threads.
 */
public abstract class Channel {

  private final QueuePair queuePair;
  private final SendQueue sends;
  private final QueueCallbacks callbacks;
  private final MessageQueue messages;
  private final Object freeing = new Object(); // a lock; reentrant, since close callbacks may free
  private final MemorySegment view;
  private final ViewUse viewUse = new ViewUse();
  private volatile boolean closed;
  private final AtomicBoolean linked = new AtomicBoolean();
  private @Nullable Channel nextCompleted;

  // What a poll has found, to be handled after it; written under the receive queue's lock.
  private volatile boolean goodbye;
  private volatile boolean ended; // whether the peer has announced the end of its messages
  private volatile boolean failed;
  private CompletionStatus failure = CompletionStatus.SUCCESS;
  private int vendorError;
  private volatile String violation = "";
  private volatile int postError;

  /**
   * The parts of a connection.
   *
   * @param queuePair the queue pair, connected or connecting
   * @param sendCompletions the completion queue of its sends
   * @param sendMemory the send memory
   * @param unacked the maximum number of unacknowledged messages
   * @param inline the maximum length of an inline message; below 0 no message is inline
   * @param callbacks the connection
   */
  public record Parts(
      QueuePair queuePair,
      CompletionQueue sendCompletions,
      SendMemory sendMemory,
      int unacked,
      int inline,
      QueueCallbacks callbacks) {}

  /**
   * Creates a channel.
   *
   * @param parts the parts of the connection
   * @param protocol the sending half of the protocol
   * @param messages the queue of messages for the program
   * @param view the memory of received messages; its contents are undefined after the close
   */
  protected Channel(Parts parts, SendProtocol protocol, MessageQueue messages, MemorySegment view) {
    this.queuePair = parts.queuePair();
    this.callbacks = parts.callbacks();
    this.sends = new SendQueue(parts, protocol);
    this.view = view;
    this.messages = messages;
  }

  /**
   * Handles a completed receive: a message, which it {@linkplain #deliver delivers}, or a control
   * message of the protocol. Under the receive queue's lock.
   *
   * @param completions the queue with the completion, which is successful
   * @param index the completion's index
   * @return a protocol violation, which ends the connection; null if there is none
   */
  protected abstract @Nullable String received(CompletionQueue completions, int index);

  /**
   * Handles a receive that is discarded, because it failed or violated the protocol. Under the
   * receive queue's lock.
   *
   * @param receive the work request's id
   */
  protected abstract void dropped(int receive);

  /**
   * Returns the location of a message.
   *
   * @param message the message's number, as delivered
   * @return the offset in {@link #view}
   */
  public abstract long offset(int message);

  /**
   * Frees the buffer space of a message. By one thread at a time.
   *
   * @param message the message's number, as delivered
   */
  protected abstract void freed(int message);

  /**
   * Makes freed buffer space available that {@link #freed} holds back until there is more, if the
   * peer cannot send without it. By one thread at a time.
   */
  protected abstract void releaseHeldBackSpace();

  /**
   * Returns whether no more messages can arrive before the program frees some of those that it
   * holds. Called by the receiver's thread if no message is waiting.
   *
   * @param held the number of messages that the program holds, at least 1
   * @return whether these occupy all buffers
   */
  public abstract boolean isExhausted(int held);

  /** Stops posting receives. Called before the queue pair is destroyed. */
  protected abstract void stopReceives();

  /**
   * Frees a message. By the receiver's thread. The protocol's {@link #freed} makes the space
   * available again, and reports it to the peer when enough is free.
   *
   * @param message the message's number, as delivered
   */
  public final void free(int message) {
    ReceiveMultiplexer.Node node = messages.node();
    if (node == null) {
      freed(message);
      return;
    }
    // a lock is needed only here: a closed common receiver may still free its last message when the
    // connection's receiver starts
    synchronized (freeing) {
      freed(message);
    }
    node.offer(); // the peer may need the space, and the connection may have left the rotation
  }

  /**
   * Makes freed buffer space available if the peer cannot send without it. Called by the receiver's
   * thread when it has found no message: while it waits for one, it frees nothing.
   */
  public final void releaseSpaceToBlockedPeer() {
    if (messages.node() == null) {
      releaseHeldBackSpace();
      return;
    }
    synchronized (freeing) {
      releaseHeldBackSpace();
    }
  }

  /**
   * Adds a message to the queue. Under the receive queue's lock.
   *
   * @param message a number that identifies it in {@link #offset} and {@link #free}
   * @param length its length in bytes
   */
  protected final void deliver(int message, int length) {
    if (!messages.add(message, length)) {
      violation = "more messages than receive buffers";
    }
  }

  /**
   * Records that the peer has announced the end of its messages. Under the receive queue's lock.
   *
   * @return the protocol violation, if the peer had announced it before; null if there is none
   */
  protected final @Nullable String endReceived() {
    if (ended) {
      return "the peer announced the end of its messages twice";
    }
    ended = true;
    return null;
  }

  /**
   * Checks, for a message that has arrived, that the peer had not announced the end before it.
   * Under the receive queue's lock.
   *
   * @return the protocol violation; null if there is none
   */
  protected final @Nullable String checkNotEnded() {
    return ended ? "the peer sent a message after the end of its messages" : null;
  }

  /** Records the peer's goodbye. Under the receive queue's lock. */
  protected final void goodbyeReceived() {
    sends.controls().stopReports();
    goodbye = true;
  }

  /**
   * Records the result of a receive posted by {@link #received}.
   *
   * @param result the result of posting; below 0 if it failed
   */
  protected final void posted(int result) {
    if (result < 0) {
      postError = -result;
    }
  }

  final int queuePairNumber() {
    return queuePair.number();
  }

  /** {@return the send queue} */
  public final SendQueue sends() {
    return sends;
  }

  /** {@return the received messages that wait for the program} */
  public final MessageQueue messages() {
    return messages;
  }

  /**
   * Passes messages to a common receiver from now on, unless the connection's own receiver has
   * claimed them. Under the receive queue's lock.
   */
  final void deliverTo(ReceiveMultiplexer common) {
    ReceiveMultiplexer.Node node = new ReceiveMultiplexer.Node(common, this);
    if (messages.claim(node)) {
      node.offer();
    }
  }

  /**
   * Returns the memory of received messages.
   *
   * @return a read-only segment; its contents are undefined after the close
   */
  public final MemorySegment view() {
    return view;
  }

  /**
   * {@return whether the peer has announced the end of its messages; if so, all of them have been
   * polled}
   */
  public final boolean isEnded() {
    return ended;
  }

  /** {@return whether the goodbye of the peer has been polled} */
  public final boolean isGoodbyeSaid() {
    return goodbye;
  }

  /** {@return the connection} */
  public final QueueCallbacks callbacks() {
    return callbacks;
  }

  /**
   * {@return the number of reports: control messages that announce free buffer space to the peer}
   */
  public final long reports() {
    return sends.controls().reports();
  }

  /**
   * Links the channel in front of others with new completions. If the channel is in such a list
   * already, does nothing: the thread that handles that list has yet to handle this channel. Under
   * the queue's lock, after the completion is taken.
   */
  final boolean linkCompleted(@Nullable Channel others) {
    if (linked.getAndSet(true)) {
      return false;
    }
    nextCompleted = others;
    return true;
  }

  /** Unlinks the channel and returns the next one. Later completions link the channel again. */
  final @Nullable Channel unlinkCompleted() {
    Channel next = nextCompleted;
    nextCompleted = null;
    linked.getAndSet(false);
    return next;
  }

  /** Handles a receive completion. Never throws. Under the queue's lock. */
  final void take(CompletionQueue completions, int index) {
    if (!violation.isEmpty()) { // later messages cannot be trusted
      dropped((int) completions.workRequestId(index));
      return;
    }
    if (completions.isSuccess(index)) {
      String objection;
      try {
        objection = received(completions, index);
      } catch (RuntimeException
          | Error e) { // otherwise messages of other connections would be lost
        objection = "its message cannot be handled: " + e;
      }
      if (objection == null) {
        return;
      }
      violation = objection;
    } else if (!failed) {
      failure = completions.status(index);
      vendorError = completions.vendorError(index);
      failed = true;
    }
    dropped((int) completions.workRequestId(index));
  }

  /**
   * Sends a report of free buffer space to the peer, if one is due. Also called periodically,
   * because it may not have been possible earlier. By any thread, not under a lock.
   */
  public final void reportIfDue() {
    sends.controls().sendReport();
  }

  /**
   * Returns whether a report cannot be sent before the peer's answer to an earlier one is polled.
   * By any thread, not under a lock.
   *
   * @return whether it is; if so, the caller should poll for completions, as the program may not
   */
  public final boolean isReportBlocked() {
    return sends.controls().isReportBlocked();
  }

  /**
   * Reposts all freed buffers, as the receiver may not free or poll again. Called periodically by
   * the event loop.
   */
  public final void tick() {
    repostAll();
    sends.controls().sendPendingReport(); // even if little space is free, the peer may need it
  }

  /** Reposts freed buffers that are held back. By any thread, not under a lock. */
  protected void repostAll() {}

  /** Handles what a poll has found; not under a lock. */
  final void afterPoll() {
    ReceiveMultiplexer.Node known = messages.node();
    if (known != null) {
      known.offer();
    }
    reportIfDue();
    callbacks.onProgress();
    reportEnd();
    if (postError != 0) {
      callbacks.onCallFailure("ibv_post_recv", postError);
    }
  }

  /**
   * Reports the goodbye, the protocol violation or the failed receive that has been polled, even if
   * another thread is about to report it. Not under a lock.
   */
  public final void reportEnd() {
    if (goodbye) {
      callbacks.onGoodbye();
    }
    if (!violation.isEmpty()) {
      callbacks.onViolation(violation);
    }
    // a flushed receive has no cause of its own
    if (failed && !(failure == CompletionStatus.FLUSHED && sends.reportCause())) {
      callbacks.onReceiveFailure(failure, vendorError);
    }
  }

  /**
   * Stops posting receives. The contents of messages that the program holds or has not yet received
   * become undefined.
   */
  public final void closeReceives() {
    closed = true;
    ReceiveMultiplexer.Node known = messages.node();
    if (known != null) {
      known.clear();
    }
    stopReceives();
  }

  /**
   * {@return the mark of threads whose handler reads messages of this connection in place, within a
   * poll}
   */
  public final ViewUse viewUse() {
    return viewUse;
  }

  /** {@return whether the connection was closed, so that its messages can no longer be read} */
  public final boolean isClosed() {
    return closed;
  }
}
