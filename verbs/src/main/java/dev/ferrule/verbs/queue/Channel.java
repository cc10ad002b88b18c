// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.spi.ViewUse;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.QueuePair;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One connection's part of the queues: what it sends, and what comes. What a completion of a
 * receive means, and where the messages lie, is the protocol's.
 *
 * <p><b>Threads:</b> freeing is for the receiver's thread; the rest says it itself.
 */
public abstract class Channel {

  private final QueuePair queuePair;
  private final SendQueue sends;
  private final Link link;
  private final Inbox inbox;
  private volatile CommonArrivals.@Nullable Place place; // with a receiver for many connections
  private final Object freeing = new Object(); // a lock; reentrant, for close callbacks may free
  private final MemorySegment view;
  private final ViewUse viewUse = new ViewUse();
  private final AtomicLong reports = new AtomicLong(); // by any thread that reports
  private volatile boolean closed;
  private final AtomicBoolean touched = new AtomicBoolean();
  private @Nullable Channel touchedBefore;

  // What was found while polling, and is acted on after it; written under the receive queue's lock.
  private volatile boolean goodbye;
  private volatile boolean failed;
  private CompletionStatus failure = CompletionStatus.SUCCESS;
  private int vendorError;
  private volatile String violation = "";
  private volatile int postError;

  /**
   * What every connection is made of.
   *
   * @param queuePair the queue pair, connected or about to be
   * @param sendCompletions where its sends complete
   * @param sendMemory what messages are sent from
   * @param unacked how many messages this side has unacknowledged, at most
   * @param inline up to how many bytes messages ride inline; below 0 none do
   * @param link the connection
   */
  public record Parts(
      QueuePair queuePair,
      CompletionQueue sendCompletions,
      SendMemory sendMemory,
      int unacked,
      int inline,
      Link link) {}

  /**
   * Puts a connection's queues together.
   *
   * @param parts what it is made of
   * @param protocol what it may send, and how
   * @param inboxCapacity how many messages can wait for the program, at most
   * @param view the memory in which messages lie when they have come, to be read as long as the
   *     connection lives
   */
  protected Channel(Parts parts, SendProtocol protocol, int inboxCapacity, MemorySegment view) {
    this.queuePair = parts.queuePair();
    this.link = parts.link();
    this.sends = new SendQueue(parts, protocol);
    this.view = view;
    this.inbox = new Inbox(inboxCapacity);
  }

  /**
   * Takes in a receive that is done: it may be a message, to be {@link #deliver delivered}, or what
   * only the protocol wants to know. Under the receive queue's lock.
   *
   * @param completions holds the completion, which is a success
   * @param index which it is
   * @return what is wrong with it, which ends the connection; null if nothing
   */
  protected abstract @Nullable String received(CompletionQueue completions, int index);

  /**
   * Nobody wants what a receive has brought: it failed, or was a violation. Under the receive
   * queue's lock.
   *
   * @param receive the work request's id
   */
  protected abstract void dropped(int receive);

  /**
   * Returns where a message lies.
   *
   * @param message its number, as it was delivered
   * @return the offset in {@link #view}
   */
  public abstract long offset(int message);

  /**
   * A message is freed: gives back what it took up. By one thread at a time.
   *
   * @param message its number, as it was delivered
   */
  protected abstract void freed(int message);

  /** Gives on what was freed, if the peer can send nothing without. By one thread at a time. */
  protected abstract void giveOnForStarvingPeer();

  /**
   * Tells whether no more messages can come before the program frees some of those that it holds.
   * Called when none waits, by the receiver's thread.
   *
   * @param held how many it holds, at least 1
   * @return whether that is all there is room for
   */
  public abstract boolean isExhausted(int held);

  /** Posts no more receives: the queue pair is destroyed. */
  protected abstract void stopReceives();

  /**
   * Gives back what a message took up, with which the program has done. By the receiver's thread.
   *
   * @param message its number, as it was delivered
   */
  public final void free(int message) {
    if (place == null) {
      freed(message);
      return;
    }
    // a common receiver that has ended may be at its last message when the connection's own begins
    synchronized (freeing) {
      freed(message);
    }
  }

  /** Gives on what was freed, if the peer can send nothing without. By the receiver's thread. */
  public final void freeForStarvingPeer() {
    if (place == null) {
      giveOnForStarvingPeer();
      return;
    }
    synchronized (freeing) {
      giveOnForStarvingPeer();
    }
  }

  /**
   * Puts a message where the program finds it. Under the receive queue's lock.
   *
   * @param message a number by which {@link #offset} and {@link #free} will know it
   * @param length its length in bytes
   */
  protected final void deliver(int message, int length) {
    if (!inbox.add(message, length)) {
      violation = "more messages came than there is room for";
    }
  }

  /** The peer says goodbye. Under the receive queue's lock. */
  protected final void goodbyeReceived() {
    goodbye = true;
  }

  /**
   * A receive was posted from within {@link #received}.
   *
   * @param result what posting returned: below 0, the device has not taken it
   */
  protected final void posted(int result) {
    if (result < 0) {
      postError = -result;
    }
  }

  final int queuePairNumber() {
    return queuePair.number();
  }

  /**
   * Returns the send queue.
   *
   * @return the queue
   */
  public final SendQueue sends() {
    return sends;
  }

  /**
   * Returns where the messages of this connection wait.
   *
   * @return the inbox
   */
  public final Inbox inbox() {
    return inbox;
  }

  /**
   * Returns the same for the connection's own receiver.
   *
   * @return the messages, which may be another receiver's
   */
  public final Arrivals arrivals() {
    return new OwnArrivals(this, inbox);
  }

  /**
   * Has another receiver take the messages from now on, unless the connection's own one does. Under
   * the receive queue's lock.
   */
  final void deliverTo(CommonArrivals common) {
    if (inbox.giveUp()) {
      CommonArrivals.Place made = new CommonArrivals.Place(common, this);
      place = made;
      made.offer();
    }
  }

  /** Whether the messages went to a common receiver, which takes no more. */
  final boolean isCommonReceiverEnded() {
    CommonArrivals.Place known = place;
    return known != null && known.isEnded();
  }

  /**
   * Returns the memory in which messages lie when they have come.
   *
   * @return a segment that lives as long as the connection, and can only be read
   */
  public final MemorySegment view() {
    return view;
  }

  /**
   * Tells whether the peer has said goodbye.
   *
   * @return whether it has, as far as was polled
   */
  public final boolean isGoodbyeSaid() {
    return goodbye;
  }

  /**
   * Returns the connection.
   *
   * @return the connection
   */
  public final Link link() {
    return link;
  }

  /**
   * Returns how often the peer was told by a message of its own what this side has room for.
   *
   * @return the number of times
   */
  public final long reports() {
    return reports.get();
  }

  /**
   * Puts the channel before others whose completions were just taken, unless it is among such
   * already: then whoever is to look after those has yet to begin with this one. Under the queue's
   * lock, when the completion is taken.
   */
  final boolean touch(@Nullable Channel others) {
    if (touched.getAndSet(true)) {
      return false;
    }
    touchedBefore = others;
    return true;
  }

  /** Returns the one behind. What is taken from now on touches the channel anew. */
  final @Nullable Channel untouch() {
    Channel next = touchedBefore;
    touchedBefore = null;
    touched.getAndSet(false);
    return next;
  }

  /** Takes a receive completion in, and throws nothing. Under the queue's lock. */
  final void take(CompletionQueue completions, int index) {
    if (!violation.isEmpty()) { // what comes behind it may not be what it seems
      dropped((int) completions.workRequestId(index));
      return;
    }
    if (completions.isSuccess(index)) {
      String objection;
      try {
        objection = received(completions, index);
      } catch (RuntimeException | Error e) { // or others' messages behind it would be lost
        objection = "what it sent cannot be taken in: " + e;
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
   * Tells the peer what this side has room for by now, if it is time to; now and then as well, for
   * it may not have been possible before. By any thread, not under a lock.
   */
  public final void reportIfDue() {
    if (sends.sendReport()) {
      reports.incrementAndGet();
    }
  }

  /**
   * Tells the peer all that this side has room for by now, be it ever so little: the peer may need
   * just that. By any thread, not under a lock.
   */
  public final void reportOwed() {
    if (sends.sendOwedReport()) {
      reports.incrementAndGet();
    }
  }

  /**
   * Tells whether the peer waits for a report that cannot be made before its answer to an earlier
   * one is taken in. By any thread, not under a lock.
   *
   * @return whether it may; what has come should be looked at then, though the program may not be
   *     about to
   */
  public final boolean isReportHeldUp() {
    return sends.isReportHeldUp();
  }

  /**
   * Called now and then, by a thread that only watches: reports what is owed, and has the receiver
   * give on what it keeps to post several at a time.
   */
  public final void tick() {
    reportOwed();
    if (keepsFreed()) {
      link.onProgress();
      CommonArrivals.Place known = place;
      if (known != null) {
        known.wake();
      }
    }
  }

  /**
   * Tells whether something that was freed is kept back; the receiver gives it on when it frees or
   * looks the next time, if this was called. By any thread.
   *
   * @return whether something is
   */
  protected boolean keepsFreed() {
    return false;
  }

  /** Acts on what was found; not under a lock. */
  final void afterPoll() {
    CommonArrivals.Place known = place;
    if (known != null) {
      known.offer();
    }
    reportIfDue();
    link.onProgress();
    if (goodbye) {
      link.onGoodbye();
    }
    if (!violation.isEmpty()) {
      link.onViolation(violation);
    }
    if (failed) {
      sends.look(); // there may be the cause; a flushed receive says nothing
      link.onFailure(failure, vendorError);
    }
    if (postError != 0) {
      link.onPostFailure("ibv_post_recv", postError);
    }
  }

  /** Posts no more; what the program has not freed, or not yet received, is gone for it. */
  public final void closeReceives() {
    closed = true;
    CommonArrivals.Place known = place;
    if (known != null) {
      known.clear();
    }
    stopReceives();
  }

  /**
   * Returns the mark of a thread that is in a poll, whose handler reads messages of this connection
   * in place.
   *
   * @return the mark
   */
  public final ViewUse viewUse() {
    return viewUse;
  }

  /**
   * Tells whether the connection was closed, so that its messages cannot be read any more.
   *
   * @return whether it was
   */
  public final boolean isClosed() {
    return closed;
  }
}
