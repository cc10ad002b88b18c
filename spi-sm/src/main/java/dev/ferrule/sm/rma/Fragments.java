// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.sm.ring.CorruptRingException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The initiator of fragments: puts them into its buffer for the target to copy, and takes them back
 * when they are done, with what was read. The target handles them in order, so that the number of
 * those that it has handled says it all.
 *
 * <p>One thread at a time uses one.
 */
public final class Fragments {

  /** Told how fragments went, in the order in which they were submitted. */
  public interface Listener {

    /**
     * A fragment is done, or could not be.
     *
     * @param operation the id of the operation that it is of
     * @param status as in its header: {@link RmaLayout#DONE}, or what was wrong
     * @param isLast whether it is the last one of that operation
     */
    void onFragment(long operation, int status, boolean isLast);
  }

  private static final long ABANDONED = 0; // in place of an operation's id

  /** So many of the longest fragments fit into the buffer, so that both sides have work. */
  private static final int FRAGMENTS_IN_BUFFER = 8;

  /**
   * The longest payload. Of what is copied by both sides, all but one such piece is copied at the
   * same time. A longer one would keep the target's endpoint thread from all other connections.
   */
  static final int MAX_PAYLOAD = 64 << 10;

  private final long own; // the address
  private final long peer; // the address
  private final long buffer; // the address
  private final Runnable tellTarget;
  private final LineRing lines;
  private final int maxPayload;

  // What is under way, by the number of the submission modulo their number.
  private final int[] line = new int[RmaLayout.FRAGMENTS];
  private final long[] end = new long[RmaLayout.FRAGMENTS]; // of its lines
  private final int[] length = new int[RmaLayout.FRAGMENTS];
  private final @Nullable MemorySegment[] into = new MemorySegment[RmaLayout.FRAGMENTS];
  private final long[] intoOffset = new long[RmaLayout.FRAGMENTS];
  private final long[] operation = new long[RmaLayout.FRAGMENTS];
  private final boolean[] last = new boolean[RmaLayout.FRAGMENTS];
  private long submitted;
  private long reaped;

  /**
   * Begins with nothing under way, in the buffer of at least 32 lines, whose size the peer learns.
   *
   * @param own this side's area
   * @param peer the peer's
   * @param tellTarget tells the peer, whose thread may sleep, that there are fragments
   */
  public Fragments(RmaArea own, RmaArea peer, Runnable tellTarget) {
    this.own = own.address();
    this.peer = peer.address();
    this.buffer = own.bufferAddress();
    this.tellTarget = tellTarget;
    int count = (int) (own.bufferSize() / RmaLayout.LINE);
    this.lines = new LineRing(count);
    this.maxPayload =
        Math.clamp(
            (long) (count / FRAGMENTS_IN_BUFFER - 1) * RmaLayout.LINE, RmaLayout.LINE, MAX_PAYLOAD);
    INT.setRelease(ALL, this.own + RmaLayout.BUFFER_LINES, count);
  }

  /**
   * Returns how long a fragment is, at most.
   *
   * @return the length of its payload in bytes
   */
  public int maxPayload() {
    return maxPayload;
  }

  /**
   * Submits a fragment, if there is room for it.
   *
   * @param write whether to the region, and not from it
   * @param region the peer's region
   * @param offset where in it
   * @param local where the bytes come from, or go to
   * @param localOffset where in it
   * @param bytes how many, up to {@link #maxPayload}
   * @param id the operation that it is of
   * @param isLast whether it is the last one of that
   * @return whether there was
   */
  public boolean trySubmit(
      boolean write,
      RemoteRegion region,
      long offset,
      MemorySegment local,
      long localOffset,
      int bytes,
      long id,
      boolean isLast) {
    if (submitted - reaped == RmaLayout.FRAGMENTS) {
      return false;
    }
    long before = lines.end();
    int first = lines.take(RmaLayout.linesFor(bytes));
    if (first == LineRing.NONE) {
      return false;
    }
    long header = (long) first * RmaLayout.LINE;
    if (write) {
      boolean copied = false;
      try {
        MemorySegment.copy(local, localOffset, ALL, buffer + header + RmaLayout.LINE, bytes);
        copied = true;
      } finally {
        if (!copied) { // the program has freed it
          lines.giveBackLast(before);
        }
      }
    }
    INT.set(
        ALL,
        buffer + header + RmaLayout.FRAGMENT_OPERATION,
        write ? RmaLayout.WRITE : RmaLayout.READ);
    INT.set(ALL, buffer + header + RmaLayout.FRAGMENT_STATUS, RmaLayout.PENDING);
    INT.set(ALL, buffer + header + RmaLayout.FRAGMENT_REGION, region.id());
    INT.set(ALL, buffer + header + RmaLayout.FRAGMENT_LENGTH, bytes);
    LONG.set(ALL, buffer + header + RmaLayout.FRAGMENT_GENERATION, region.generation());
    LONG.set(ALL, buffer + header + RmaLayout.FRAGMENT_OFFSET, offset);
    int slot = (int) submitted & (RmaLayout.FRAGMENTS - 1);
    line[slot] = first;
    end[slot] = lines.end();
    length[slot] = bytes;
    into[slot] = write ? null : local;
    intoOffset[slot] = localOffset;
    operation[slot] = id;
    last[slot] = isLast;
    INT.set(ALL, own + RmaLayout.submission(submitted), first);
    submitted++;
    // A full fence: a target that is awake or still at those before sees this, or is seen to be
    // neither.
    LONG.setVolatile(ALL, own + RmaLayout.SUBMITTED, submitted);
    if ((int) INT.getVolatile(ALL, peer + RmaLayout.TARGET_AWAKE) == 0
        && (long) LONG.getVolatile(ALL, peer + RmaLayout.HANDLED) == submitted - 1) {
      tellTarget.run();
    }
    return true;
  }

  /**
   * Takes back what is done.
   *
   * @param listener told of each fragment
   * @throws CorruptRingException if the peer has written what cannot be
   */
  public void reap(Listener listener) {
    long handled = (long) LONG.getAcquire(ALL, peer + RmaLayout.HANDLED);
    if (handled < reaped || handled > submitted) {
      throw new CorruptRingException(
          "it has handled " + handled + " fragments of " + submitted + " that were submitted");
    }
    while (reaped < handled) {
      int slot = (int) reaped & (RmaLayout.FRAGMENTS - 1);
      long header = (long) line[slot] * RmaLayout.LINE;
      int status = (int) INT.get(ALL, buffer + header + RmaLayout.FRAGMENT_STATUS);
      MemorySegment target = into[slot];
      into[slot] = null;
      if (status == RmaLayout.DONE && target != null) {
        status = copy(header + RmaLayout.LINE, target, intoOffset[slot], length[slot]);
      }
      lines.giveBackUpTo(end[slot]);
      reaped++;
      if (operation[slot] != ABANDONED) {
        listener.onFragment(operation[slot], status, last[slot]);
      }
    }
  }

  private int copy(long payload, MemorySegment target, long offset, int bytes) {
    try {
      MemorySegment.copy(ALL, buffer + payload, target, offset, bytes);
      return RmaLayout.DONE;
    } catch (IllegalStateException e) {
      return RmaLayout.FAULT; // the program has freed it
    }
  }

  /** Forgets all that is under way: what was read goes nowhere, and nothing more becomes done. */
  public void abandonAll() {
    for (long number = reaped; number < submitted; number++) {
      abandon((int) number & (RmaLayout.FRAGMENTS - 1));
    }
  }

  private void abandon(int slot) {
    operation[slot] = ABANDONED;
    into[slot] = null;
    last[slot] = false;
  }

  /**
   * Forgets an operation that was not submitted whole: what of it is under way brings nothing more.
   *
   * @param id the operation's id
   */
  public void abandon(long id) {
    for (long number = reaped; number < submitted; number++) {
      int slot = (int) number & (RmaLayout.FRAGMENTS - 1);
      if (operation[slot] == id) {
        abandon(slot);
      }
    }
  }

  /** Asks the target to wake this side up when a fragment is done; a last look has to follow. */
  public void arm() {
    INT.setOpaque(ALL, own + RmaLayout.INITIATOR_ASLEEP, 1);
    VarHandle.fullFence(); // whoever is done from now on sees this, or is seen to be done
  }

  /**
   * Tells whether the target has not done so yet.
   *
   * @return whether it has not
   */
  public boolean isArmed() {
    return (int) INT.getAcquire(ALL, own + RmaLayout.INITIATOR_ASLEEP) != 0;
  }

  /** Takes that back. */
  public void disarm() {
    INT.setVolatile(ALL, own + RmaLayout.INITIATOR_ASLEEP, 0);
  }
}
