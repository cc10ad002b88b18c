// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.QueuePair;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One connection's part of the queues: what it sends, the buffers that it receives into, and the
 * credits of both.
 *
 * <p><b>Threads:</b> freeing is for the receiver's thread; the rest says it itself.
 */
public final class Channel {

  /** Receives that are posted for control messages, beside those for messages. */
  public static final int CONTROL_RECEIVES = Window.CONTROL_RECEIVES;

  private final QueuePair queuePair;
  private final ReceiveBuffers buffers;
  private final Window window;
  private final SendQueue sends;
  private final Link link;
  private final Returns returns;
  private final Inbox inbox;
  private final MemorySegment view;
  private volatile long grants;
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
   * What the two sides have agreed on, and what this side wants.
   *
   * @param plain whether messages carry no immediate data
   * @param credits whether there are credits
   * @param receives for how many messages this side has room
   * @param peerReceives for how many the peer has
   * @param unacked how many messages this side has unacknowledged, at most
   * @param inline up to how many bytes messages ride inline; below 0 none do
   */
  public record Terms(
      boolean plain, boolean credits, int receives, int peerReceives, int unacked, int inline) {}

  /**
   * Puts a connection's queues together.
   *
   * @param queuePair the queue pair
   * @param sendCompletions where its sends complete
   * @param sendMemory what it sends from
   * @param buffers what it receives into
   * @param share its part of the buffers, if those are shared by several connections; else null
   * @param view the buffers' memory, to be read as long as the connection lives
   * @param terms what was agreed on
   * @param link the connection
   */
  public Channel(
      QueuePair queuePair,
      CompletionQueue sendCompletions,
      MemoryRegion sendMemory,
      ReceiveBuffers buffers,
      SharedReceives.@Nullable Share share,
      MemorySegment view,
      Terms terms,
      Link link) {
    this.queuePair = queuePair;
    this.buffers = buffers;
    this.link = link;
    this.window =
        new Window(terms.plain(), terms.credits(), terms.receives(), terms.peerReceives());
    this.sends =
        new SendQueue(
            queuePair, sendCompletions, sendMemory, window, link, terms.unacked(), terms.inline());
    this.view = view;
    if (share == null) {
      // without credits, messages may come into the buffers for control messages as well
      this.inbox = new Inbox(buffers.count());
      this.returns = new OwnReturns(queuePair, buffers, window, this, terms.receives());
    } else {
      this.inbox = new Inbox(buffers.count());
      this.returns = share;
      share.join(this, window);
    }
  }

  int queuePairNumber() {
    return queuePair.number();
  }

  /**
   * Returns the send queue.
   *
   * @return the queue
   */
  public SendQueue sends() {
    return sends;
  }

  /**
   * Returns where the messages of this connection wait.
   *
   * @return the inbox
   */
  public Inbox inbox() {
    return inbox;
  }

  /**
   * Returns the memory of the receive buffers.
   *
   * @return a segment that lives as long as the connection, and can only be read
   */
  public MemorySegment view() {
    return view;
  }

  /**
   * Returns the receive buffers.
   *
   * @return the buffers
   */
  public ReceiveBuffers buffers() {
    return buffers;
  }

  /**
   * Tells whether the peer has said goodbye.
   *
   * @return whether it has, as far as was polled
   */
  public boolean isGoodbyeSaid() {
    return goodbye;
  }

  /**
   * Returns the connection.
   *
   * @return the connection
   */
  public Link link() {
    return link;
  }

  /**
   * Returns how often the peer was granted credit by a message of its own.
   *
   * @return the number of times
   */
  public long grants() {
    return grants;
  }

  /**
   * Puts the channel before others whose completions were just taken, unless it is among such
   * already: then whoever is to look after those has yet to begin with this one. Under the queue's
   * lock, when the completion is taken.
   */
  boolean touch(@Nullable Channel others) {
    if (touched.getAndSet(true)) {
      return false;
    }
    touchedBefore = others;
    return true;
  }

  /** Returns the one behind. What is taken from now on touches the channel anew. */
  @Nullable Channel untouch() {
    Channel next = touchedBefore;
    touchedBefore = null;
    touched.getAndSet(false);
    return next;
  }

  /** Takes a receive completion in; returns whether it is a message. Under the queue's lock. */
  boolean take(CompletionQueue completions, int index) {
    int buffer = (int) completions.workRequestId(index);
    if (!completions.isSuccess(index)) {
      if (!failed) {
        failure = completions.status(index);
        vendorError = completions.vendorError(index);
        failed = true;
      }
      returns.dropped(buffer);
      return false;
    }
    if (window.plain()) {
      window.messageReceived();
      returns.taken(buffer);
      return true;
    }
    String objection =
        completions.hasImmediate(index)
            ? take(completions.immediate(index), buffer)
            : "a message came without immediate data; is the peer in the plain mode (hello=off)?";
    if (objection == null) {
      return Immediate.type(completions.immediate(index)) == Immediate.MESSAGE;
    }
    violation = objection;
    returns.dropped(buffer);
    return false;
  }

  /** Takes in what came with a message; returns what is wrong with it, or null. */
  private @Nullable String take(int immediate, int buffer) {
    if (!window.take(immediate)) {
      return "its credits make no sense: 0x" + Integer.toHexString(immediate);
    }
    switch (Immediate.type(immediate)) {
      case Immediate.MESSAGE -> {
        if (!window.messageReceived()) {
          return "it sent more messages than it had credit for";
        }
        returns.taken(buffer);
      }
      case Immediate.GRANT, Immediate.GOODBYE -> {
        if (!window.controlReceived()) {
          return "it sent more control messages than may be under way";
        }
        repost(buffer);
        goodbye |= Immediate.type(immediate) == Immediate.GOODBYE;
      }
      default -> {
        return "a message came of the unknown type " + Immediate.type(immediate);
      }
    }
    return null;
  }

  private void repost(int buffer) {
    int result = returns.control(buffer);
    if (result < 0) {
      postError = -result;
    }
  }

  /** Tells the peer what it may send by now, if it is time to; not under a lock. */
  void grantIfDue() {
    if (sends.grant()) {
      grants++;
    }
  }

  /** Acts on what was found; not under a lock. */
  void afterPoll() {
    grantIfDue();
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

  /**
   * Gives back a buffer, whose message the program has done with. By the receiver's thread.
   *
   * @param buffer its number
   */
  public void free(int buffer) {
    returns.free(buffer);
  }

  /** Posts what was freed, if the peer can send nothing without. By the receiver's thread. */
  public void freeForStarvingPeer() {
    returns.freeForStarvingPeer();
  }

  /** Posts no more; what the program has not freed, or not yet received, is gone for it. */
  public void closeReceives() {
    closed = true;
    returns.close();
  }

  /**
   * Tells whether the connection was closed, so that its messages cannot be read any more.
   *
   * @return whether it was
   */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Tells the peer what it may send by now, if that is due and was not possible before. To be
   * called now and then, by any thread.
   */
  public void lookAfterGrants() {
    grantIfDue();
  }
}
