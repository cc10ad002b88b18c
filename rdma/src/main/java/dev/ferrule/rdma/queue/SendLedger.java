// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.support.LineAllocator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/**
 * Records the outstanding work requests of a send queue, numbered in posting order: messages with
 * an id and lines, remote memory accesses, and control requests. Only every n-th message is
 * signaled. A completion retires all requests before it as well, since a queue pair completes in
 * order.
 *
 * <p><b>Threads:</b> under the send queue's lock, except {@link #completedId} and {@link
 * #completedOperation}.
 */
final class SendLedger {

  private static final long CONTROL = 0; // instead of a message's id
  private static final long ACCESS = -1; // instead of a message's id
  private static final int MAX_SIGNAL_INTERVAL = 16;

  /**
   * The time allowed per outstanding byte. A message is acknowledged as a whole, and the slowest
   * useful link is assumed to carry 10 MB/s.
   */
  private static final long NANOS_PER_BYTE = 100;

  private final LineAllocator lines;
  private final int signalInterval;
  private final int mask;
  private final long[] ids; // by number of the work request
  private final int[] firstLines; // by number of the work request; the region of an access
  private final int[] lengths; // by number of the work request
  private final long[] operations; // by number of the work request, for accesses

  private long sent; // messages posted in total
  private long posted; // work requests posted in total
  private long retired; // work requests completed in total
  private long lastSignaled; // the number of the last signaled work request
  private long lastSignaledId;
  private long retiredMessages;
  private long bytesUnderWay;
  private long controls; // posted in total
  private int controlsPosted; // outstanding
  private int accessesPosted; // outstanding
  private long lastAccess; // the number of the last one posted
  private long probedRetired =
      -1; // the value of retired at the last probe; -1 so that the first probe sees no stall
  private int stalledProbes;

  private final AtomicLong completedId = new AtomicLong();
  private final AtomicLong completedOperation = new AtomicLong();
  private IntConsumer regionRelease = region -> {};

  /**
   * Creates a ledger.
   *
   * @param unacked the maximum number of unacknowledged messages
   * @param lines releases the lines of retired messages
   */
  SendLedger(int unacked, LineAllocator lines) {
    this.lines = lines;
    this.signalInterval = Math.clamp(unacked / 4, 1, MAX_SIGNAL_INTERVAL);
    int slots = Integer.highestOneBit(2 * (unacked + SendQueue.EXTRA_SENDS) - 1);
    this.mask = slots - 1;
    this.ids = new long[slots];
    this.firstLines = new int[slots];
    this.lengths = new int[slots];
    this.operations = new long[slots];
  }

  /**
   * Adds a message that is about to be posted.
   *
   * @param firstLine its first line; below 0 if it has none
   * @param length its length in bytes
   * @param mustSignal whether it must be signaled
   * @return the number of its work request
   */
  long addMessage(int firstLine, int length, boolean mustSignal) {
    long number = ++posted;
    int slot = (int) number & mask;
    ids[slot] = ++sent;
    firstLines[slot] = firstLine;
    lengths[slot] = length;
    bytesUnderWay += length;
    if (mustSignal || number - lastSignaled >= signalInterval) {
      lastSignaled = number;
      lastSignaledId = sent;
    }
    return number;
  }

  /** Adds a signaled control request that is about to be posted; returns its number. */
  long addControl() {
    long number = ++posted;
    ids[(int) number & mask] = CONTROL;
    controls++;
    controlsPosted++;
    lastSignaled = number;
    lastSignaledId = sent;
    return number;
  }

  /** Sets the action that is called with the region of each completed access. */
  void onRegionRelease(IntConsumer action) {
    regionRelease = action;
  }

  /**
   * Adds a signaled request for remote memory access that is about to be posted.
   *
   * @param region the region; below 0 if there is none
   * @param length its length in bytes
   * @param operation the id of the operation if this is its last request; else 0
   * @return the number of its work request
   */
  long addAccess(int region, int length, long operation) {
    long number = ++posted;
    int slot = (int) number & mask;
    ids[slot] = ACCESS;
    firstLines[slot] = region;
    lengths[slot] = length;
    operations[slot] = operation;
    bytesUnderWay += length;
    accessesPosted++;
    lastAccess = number;
    lastSignaled = number;
    lastSignaledId = sent;
    return number;
  }

  /** Returns whether an outstanding work request is one of remote memory access. */
  boolean isAccess(long number) {
    return ids[(int) number & mask] == ACCESS;
  }

  /** Returns whether the last added request must be signaled. */
  boolean isSignaled(long number) {
    return number == lastSignaled;
  }

  /** Retires a completed work request and all before it. */
  void retire(long number) {
    for (long n = retired + 1; n <= number; n++) {
      int slot = (int) n & mask;
      if (ids[slot] == CONTROL) {
        controlsPosted--;
      } else if (ids[slot] == ACCESS) {
        retireAccess(slot);
      } else {
        completedId.setRelease(ids[slot]);
        retiredMessages++;
        bytesUnderWay -= lengths[slot];
        if (firstLines[slot] >= 0) {
          lines.release(firstLines[slot]);
        }
      }
    }
    retired = Math.max(retired, number);
  }

  private void retireAccess(int slot) {
    accessesPosted--;
    bytesUnderWay -= lengths[slot];
    if (operations[slot] != 0) {
      completedOperation.setRelease(operations[slot]);
    }
    if (firstLines[slot] >= 0) {
      regionRelease.accept(firstLines[slot]);
    }
  }

  /** Returns the number of the last posted request for remote memory access. */
  long lastAccess() {
    return lastAccess;
  }

  /** Returns whether a work request has completed. */
  boolean isRetired(long number) {
    return number <= retired;
  }

  /** Returns the id of the last completed operation of remote memory access; by any thread. */
  long completedOperation() {
    return completedOperation.getAcquire();
  }

  /** Returns the number of outstanding requests for remote memory access. */
  int accessesPosted() {
    return accessesPosted;
  }

  /** Returns the id of the last posted message; ids count from 1. */
  long sent() {
    return sent;
  }

  /** Returns the id of the last message that the peer's device has acknowledged; by any thread. */
  long completedId() {
    return completedId.getAcquire();
  }

  /** Returns how many messages the peer's device has acknowledged. */
  long retiredMessages() {
    return retiredMessages;
  }

  /** Returns the number of unacknowledged messages. */
  long unacknowledged() {
    return sent - retiredMessages;
  }

  boolean isAllRetired() {
    return retired == posted;
  }

  /** Returns whether a signaled work request is outstanding. */
  boolean isCompletionDue() {
    return lastSignaled > retired;
  }

  /**
   * Returns whether a signaled work request covers a message, or the last message if the id is
   * beyond it.
   */
  boolean isSignaledFor(long id) {
    return lastSignaledId >= Math.min(id, sent);
  }

  /** Returns the number of outstanding control requests. */
  int controlsPosted() {
    return controlsPosted;
  }

  /** Returns the line of the next control message. No outstanding control message uses it. */
  int nextControlSlot() {
    return (int) (controls % ControlMessages.SENDS);
  }

  /** Records whether outstanding work requests made progress since the last probe. */
  void probe() {
    stalledProbes = retired != posted && retired == probedRetired ? stalledProbes + 1 : 0;
    probedRetired = retired;
  }

  /**
   * Returns whether no work request has been retired for longer than transferring the outstanding
   * bytes takes.
   *
   * @param probes the number of consecutive probes without progress that are tolerated for short
   *     messages
   * @param probeNanos the time between probes
   */
  boolean isStalled(int probes, long probeNanos) {
    return stalledProbes > probes + bytesUnderWay * NANOS_PER_BYTE / probeNanos;
  }
}
