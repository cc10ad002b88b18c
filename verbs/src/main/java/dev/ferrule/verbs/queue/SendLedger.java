// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.spi.LineAllocator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/**
 * The work requests of a send queue, numbered as they are posted, and what each of them was: a
 * message with an id and lines, a piece of remote memory access, or a control request. Only every
 * few of the messages are signaled; one completion retires all before it, for a queue pair
 * completes in order.
 *
 * <p><b>Threads:</b> under the send queue's lock, but for {@link #completedId} and {@link
 * #completedOperation}, and {@link #sent} by the thread that sends.
 */
final class SendLedger {

  private static final long CONTROL = 0; // in place of a message's id
  private static final long ACCESS = -1; // the same
  private static final int MAX_SIGNAL_INTERVAL = 16;

  /**
   * How long a byte may be under way: a message is acknowledged as a whole, and the slowest link
   * that anybody would use has 10 MB/s for it.
   */
  private static final long NANOS_PER_BYTE = 100;

  private final LineAllocator lines;
  private final int signalInterval;
  private final int mask;
  private final long[] ids; // by number of the work request
  private final int[] firstLines; // by number of the work request; for an access, the region
  private final int[] lengths; // by number of the work request
  private final long[] operations; // by number of the work request, of accesses

  private long sent; // messages posted, ever
  private long posted; // work requests posted, ever
  private long retired; // work requests completed, ever
  private long lastSignaled; // the last work request that makes a completion
  private long lastSignaledId;
  private long retiredMessages;
  private long bytesUnderWay;
  private long controls; // posted, ever
  private int controlsPosted; // and not retired
  private int accessesPosted; // and not retired
  private long lastAccess; // its number
  private long probedRetired = -1; // the last probe's; none yet, so that the first sees no stall
  private int stalledProbes;

  private final AtomicLong completedId = new AtomicLong();
  private final AtomicLong completedOperation = new AtomicLong();
  private IntConsumer regionRelease = region -> {};

  /**
   * Opens a ledger.
   *
   * @param unacked how many messages may be under way
   * @param lines where their lines go when they are retired
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
   * Enters a message that is posted now.
   *
   * @param firstLine its first line; below 0 if it has none
   * @param length its length in bytes
   * @param mustSignal whether it has to make a completion; each message may have to
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

  /** Enters a control request that is posted now, and signaled; returns its number. */
  long addControl() {
    long number = ++posted;
    ids[(int) number & mask] = CONTROL;
    controls++;
    controlsPosted++;
    lastSignaled = number;
    lastSignaledId = sent;
    return number;
  }

  /** Has somebody told of each piece of remote memory access that is done, by its region. */
  void onRegionRelease(IntConsumer action) {
    regionRelease = action;
  }

  /**
   * Enters a piece of remote memory access that is posted now, and signaled.
   *
   * @param region the region; below 0 if it is none
   * @param length the piece's length in bytes
   * @param operation the id of the operation of which this is the last piece; 0 if it is not
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

  /** Whether the request that was added last has to be signaled. */
  boolean isSignaled(long number) {
    return number == lastSignaled;
  }

  /** A work request is done, and so are all before it. */
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

  /** The number of the work request for remote memory access that was posted last. */
  long lastAccess() {
    return lastAccess;
  }

  /** Whether a work request is done. */
  boolean isRetired(long number) {
    return number <= retired;
  }

  /** The last operation of remote memory access that is done; by any thread. */
  long completedOperation() {
    return completedOperation.getAcquire();
  }

  /** How many pieces of remote memory access are under way. */
  int accessesPosted() {
    return accessesPosted;
  }

  /** The id of the message that was posted last; ids count from 1. */
  long sent() {
    return sent;
  }

  /** The last id that was acknowledged by the peer's device; by any thread. */
  long completedId() {
    return completedId.getAcquire();
  }

  /** How many messages are under way. */
  long unacknowledged() {
    return sent - retiredMessages;
  }

  boolean isAllRetired() {
    return retired == posted;
  }

  /** Whether there will be another completion. */
  boolean isCompletionDue() {
    return lastSignaled > retired;
  }

  /** Whether there will be, or has been, a completion for a message, or else for the last one. */
  boolean isSignaledFor(long id) {
    return lastSignaledId >= Math.min(id, sent);
  }

  /** How many control requests are under way. */
  int controlsPosted() {
    return controlsPosted;
  }

  /** Which of the lines for control messages the next one has: none that is under way. */
  int nextControlSlot() {
    return (int) (controls % SendQueue.CONTROL_SENDS);
  }

  /** Looks whether anything was retired since this was last called, if there was anything to. */
  void probe() {
    stalledProbes = retired != posted && retired == probedRetired ? stalledProbes + 1 : 0;
    probedRetired = retired;
  }

  /**
   * Tells whether nothing has been retired for longer than there is an excuse for.
   *
   * @param probes for how many probes in a row that may be, with nothing but short messages
   * @param probeNanos how far apart probes are
   */
  boolean isStalled(int probes, long probeNanos) {
    return stalledProbes > probes + bytesUnderWay * NANOS_PER_BYTE / probeNanos;
  }
}
