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
 * A connection's part of the queues: its send queue, and its received messages. Protocols implement
 * the meaning of receive completions and the location of messages.
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
  private final AtomicBoolean touched = new AtomicBoolean();
  private @Nullable Channel touchedBefore;

  // Findings of a poll, handled after it; written under the receive queue's lock.
  private volatile boolean goodbye;
  private volatile boolean ended; // the peer's messages
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
   * @param view the memory of received messages, whose contents are undefined after the close
   */
  protected Channel(Parts parts, SendProtocol protocol, MessageQueue messages, MemorySegment view) {
    this.queuePair = parts.queuePair();
    this.callbacks = parts.callbacks();
    this.sends = new SendQueue(parts, protocol);
    this.view = view;
    this.messages = messages;
  }

  /**
   * Handles a completed receive: a message, to be {@link #deliver delivered}, or a control message
   * of the protocol. Under the receive queue's lock.
   *
   * @param completions has the completion, which is a success
   * @param index the completion's index
   * @return a protocol violation, which ends the connection; null if there is none
   */
  protected abstract @Nullable String received(CompletionQueue completions, int index);

  /**
   * Handles a receive that is discarded: it failed, or violated the protocol. Under the receive
   * queue's lock.
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
   * Makes freed buffer space available if the peer cannot send without it, but {@link #freed} has
   * waited for more. By one thread at a time.
   */
  protected abstract void relieveStarvingPeer();

  /**
   * Returns whether no more messages can arrive before the program frees some of those that it
   * holds. Called if no message waits, by the receiver's thread.
   *
   * @param held the number of messages that the program holds, at least 1
   * @return whether these occupy all buffers
   */
  public abstract boolean isExhausted(int held);

  /** Stops posting receives: the queue pair is destroyed. */
  protected abstract void stopReceives();

  /**
   * Frees a message. By the receiver's thread. The protocol's {@link #freed} makes the space
   * available again, and reports it to the peer when enough is free.
   *
   * @param message the message's number, as delivered
   */
  public final void free(int message) {
    ReceiveMultiplexer.Place place = messages.place();
    if (place == null) {
      freed(message);
      return;
    }
    // a lock only here: a closed common receiver may still free its last message when the
    // connection's receiver starts
    synchronized (freeing) {
      freed(message);
    }
    place.offer(); // the peer may starve, and the connection may have left the list
  }

  /**
   * Makes freed buffer space available if the peer cannot send without it. By the receiver's
   * thread, when it has found no message: it may wait for one from now on, and frees nothing then.
   */
  public final void serveStarvingPeer() {
    if (messages.place() == null) {
      relieveStarvingPeer();
      return;
    }
    synchronized (freeing) {
      relieveStarvingPeer();
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
   * @return the protocol violation, if it had done so before; null if there is none
   */
  protected final @Nullable String endReceived() {
    if (ended) {
      return "the peer announced the end of its messages twice";
    }
    ended = true;
    return null;
  }

  /**
   * Checks, when a message has arrived, that the peer had not announced the end before. Under the
   * receive queue's lock.
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
   * Makes a common receiver take the messages from now on, unless the connection's own receiver has
   * claimed them. Under the receive queue's lock.
   */
  final void deliverTo(ReceiveMultiplexer common) {
    ReceiveMultiplexer.Place place = new ReceiveMultiplexer.Place(common, this);
    if (messages.claim(place)) {
      place.offer();
    }
  }

  /**
   * Returns the memory of received messages.
   *
   * @return a read-only segment, whose contents are undefined after the close
   */
  public final MemorySegment view() {
    return view;
  }

  /**
   * {@return whether the peer has announced the end of its messages, all of which have been polled
   * then}
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
   * Links the channel in front of others with new completions, unless it is in such a list already;
   * the thread that handles that list has not handled this channel yet. Under the queue's lock,
   * after the completion is taken.
   */
  final boolean touch(@Nullable Channel others) {
    if (touched.getAndSet(true)) {
      return false;
    }
    touchedBefore = others;
    return true;
  }

  /** Unlinks the channel and returns the next one. Later completions link the channel again. */
  final @Nullable Channel untouch() {
    Channel next = touchedBefore;
    touchedBefore = null;
    touched.getAndSet(false);
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
      } catch (RuntimeException | Error e) { // or messages of other connections would be lost
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
   * Sends a report of free buffer space to the peer, if one is due. Also called periodically, since
   * it may not have been possible before. By any thread, not under a lock.
   */
  public final void reportIfDue() {
    sends.controls().sendReport();
  }

  /**
   * Returns whether a report cannot be sent before the peer's answer to an earlier one is polled.
   * By any thread, not under a lock.
   *
   * @return whether it is; then completions should be polled, as the program may not do so
   */
  public final boolean isReportHeldUp() {
    return sends.controls().isReportHeldUp();
  }

  /**
   * Called periodically by the event loop: reposts all freed buffers, as the receiver may not free
   * or poll again.
   */
  public final void tick() {
    repostAll();
    sends.controls().sendOwedReport(); // even if it is little, the peer may need it
  }

  /** Reposts freed buffers that are held back. By any thread, not under a lock. */
  protected void repostAll() {}

  /** Handles the findings of a poll; not under a lock. */
  final void afterPoll() {
    ReceiveMultiplexer.Place known = messages.place();
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
   * Reports the peer's goodbye, its violation or a failed receive, whichever has been polled, even
   * if another thread is about to report it. Not under a lock.
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
    ReceiveMultiplexer.Place known = messages.place();
    if (known != null) {
      known.clear();
    }
    stopReceives();
  }

  /**
   * {@return the mark for threads in a poll whose handler reads messages of this connection in
   * place}
   */
  public final ViewUse viewUse() {
    return viewUse;
  }

  /** {@return whether the connection was closed, so that its messages can no longer be read} */
  public final boolean isClosed() {
    return closed;
  }
}
