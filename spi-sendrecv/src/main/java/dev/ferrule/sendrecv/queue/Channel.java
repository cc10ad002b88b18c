// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.QueuePair;

/**
 * One connection's part of the queues: what it sends, the buffers that it receives into, and the
 * credits of both.
 *
 * <p><b>Threads:</b> freeing is for the receiver's thread; the rest says it itself.
 */
public final class Channel {

  /** Receives that are posted for control messages, beside those for messages. */
  public static final int CONTROL_RECEIVES = Window.CONTROL_RECEIVES;

  /** So many freed buffers are posted together, unless the peer is short of credit. */
  private static final int MAX_BATCH = 16;

  private final QueuePair queuePair;
  private final ReceiveBuffers buffers;
  private final Window window;
  private final SendQueue sends;
  private final Link link;
  private final int[] freed;
  private int freedCount;
  private volatile long grants;

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
   * @param terms what was agreed on
   * @param link the connection
   */
  public Channel(
      QueuePair queuePair,
      CompletionQueue sendCompletions,
      MemoryRegion sendMemory,
      ReceiveBuffers buffers,
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
    this.freed = new int[Math.clamp(terms.receives() / 4, 1, MAX_BATCH)];
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

  /** Takes a receive completion in; returns whether it is a message. Under the queue's lock. */
  boolean take(CompletionQueue completions, int index) {
    if (!completions.isSuccess(index)) {
      if (!failed) {
        failure = completions.status(index);
        vendorError = completions.vendorError(index);
        failed = true;
      }
      return false;
    }
    if (window.plain()) {
      window.messageReceived();
      return true;
    }
    if (!completions.hasImmediate(index)) {
      return isViolated(
          "a message came without immediate data; is the peer in the plain mode (hello=off)?");
    }
    int immediate = completions.immediate(index);
    if (!window.take(immediate)) {
      return isViolated("its credits make no sense: 0x" + Integer.toHexString(immediate));
    }
    switch (Immediate.type(immediate)) {
      case Immediate.MESSAGE -> {
        return window.messageReceived()
            || isViolated("it sent more messages than it had credit for");
      }
      case Immediate.GRANT -> repost((int) completions.workRequestId(index));
      case Immediate.GOODBYE -> {
        repost((int) completions.workRequestId(index));
        goodbye = true;
      }
      default -> {
        return isViolated("a message came of the unknown type " + Immediate.type(immediate));
      }
    }
    return false;
  }

  /** Notes what the peer did; returns that it sent no message. */
  private boolean isViolated(String reason) {
    violation = reason;
    return false;
  }

  private void repost(int buffer) {
    int result = buffers.post(queuePair, buffer);
    if (result < 0) {
      postError = -result;
    }
    window.controlTaken();
  }

  /** Acts on what was found; not under a lock. */
  void afterPoll() {
    if (sends.grant()) {
      grants++;
    }
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
   * Gives back a buffer, whose message the program has done with.
   *
   * @param buffer its number
   */
  public void free(int buffer) {
    freed[freedCount++] = buffer;
    if (freedCount == freed.length || window.isPeerStarving()) {
      repostFreed();
    }
  }

  /** Posts what was freed, if the peer could do with the credit. */
  public void freeForStarvingPeer() {
    if (freedCount > 0 && window.isPeerStarving()) {
      repostFreed();
    }
  }

  private void repostFreed() {
    int result = buffers.post(queuePair, freed, freedCount);
    window.reposted(freedCount);
    freedCount = 0;
    if (result < 0) {
      link.onPostFailure("ibv_post_recv", -result);
    } else if (sends.grant()) {
      grants++;
    }
  }
}
