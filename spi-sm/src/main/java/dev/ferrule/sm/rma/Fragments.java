// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.sm.ring.CorruptRingException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The initiator of fragments: writes them to its buffer for the target to copy, and reaps completed
 * ones, with the bytes that were read. The target handles them in order, so that the count of
 * handled fragments identifies the completed ones.
 *
 * <p>Used by one thread at a time.
 */
public final class Fragments {

  /** Receives the results of fragments, in the order of their submission. */
  public interface Listener {

    /**
     * Called when a fragment has completed or failed.
     *
     * @param operation the id of its operation
     * @param status as in its header: {@link RmaLayout#DONE}, or the error
     * @param isLast whether it is the last one of that operation
     */
    void onFragment(long operation, int status, boolean isLast);
  }

  private static final long ABANDONED = 0; // in place of an operation's id

  /** Number of fragments of maximum length that fit in the buffer, so that both sides have work. */
  private static final int FRAGMENTS_IN_BUFFER = 8;

  /**
   * Maximum payload. Both sides copy at the same time, except for one such piece. Longer pieces
   * would delay all other connections of the target's endpoint thread.
   */
  static final int MAX_PAYLOAD = 64 << 10;

  private final long own; // the address
  private final long peer; // the address
  private final long buffer; // the address
  private final Runnable notifyTarget;
  private final LineRing lines;
  private final int maxPayload;

  // The fragments in flight, by the number of the submission modulo FRAGMENTS.
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
   * Creates an initiator with nothing in flight, in the buffer of at least 32 lines, whose size it
   * publishes to the peer.
   *
   * @param own this side's area
   * @param peer the peer's
   * @param notifyTarget notifies the peer, whose thread may sleep, of fragments
   */
  public Fragments(RmaArea own, RmaArea peer, Runnable notifyTarget) {
    this.own = own.address();
    this.peer = peer.address();
    this.buffer = own.bufferAddress();
    this.notifyTarget = notifyTarget;
    int count = (int) (own.bufferSize() / RmaLayout.LINE);
    this.lines = new LineRing(count);
    this.maxPayload =
        Math.clamp(
            (long) (count / FRAGMENTS_IN_BUFFER - 1) * RmaLayout.LINE, RmaLayout.LINE, MAX_PAYLOAD);
    INT.setRelease(ALL, this.own + RmaLayout.BUFFER_LINES, count);
  }

  /** {@return the maximum number of bytes in one fragment} */
  public int maxPayload() {
    return maxPayload;
  }

  /**
   * Submits the next bytes of an operation as a fragment, if there is room for it.
   *
   * @param transfer the operation
   * @param id its id
   * @return whether there was room
   */
  public boolean trySubmit(Transfer transfer, long id) {
    if (submitted - reaped == RmaLayout.FRAGMENTS) {
      return false;
    }
    int bytes = (int) Math.min(transfer.length(), maxPayload);
    long before = lines.end();
    boolean atomic = transfer.isAtomic();
    int payload = atomic ? RmaLayout.ATOMIC_PAYLOAD : bytes;
    int first = lines.take(RmaLayout.linesFor(payload));
    if (first == LineRing.NONE) {
      return false;
    }
    long header = buffer + (long) first * RmaLayout.LINE;
    boolean write = transfer.isWrite();
    if (write) {
      boolean copied = false;
      try {
        MemorySegment.copy(
            transfer.local(), transfer.localOffset(), ALL, header + RmaLayout.LINE, bytes);
        copied = true;
      } finally {
        if (!copied) { // the program has freed it
          lines.giveBackLast(before);
        }
      }
    }
    if (atomic) {
      long operands = header + RmaLayout.LINE;
      LONG.set(ALL, operands + RmaLayout.ATOMIC_OPERAND, transfer.operand());
      LONG.set(ALL, operands + RmaLayout.ATOMIC_DESIRED, transfer.desired());
    }
    RemoteRegion region = transfer.region();
    INT.set(ALL, header + RmaLayout.FRAGMENT_OPERATION, transfer.operation());
    INT.set(ALL, header + RmaLayout.FRAGMENT_STATUS, RmaLayout.PENDING);
    INT.set(ALL, header + RmaLayout.FRAGMENT_REGION, region.id());
    INT.set(ALL, header + RmaLayout.FRAGMENT_LENGTH, payload);
    LONG.set(ALL, header + RmaLayout.FRAGMENT_GENERATION, region.generation());
    LONG.set(ALL, header + RmaLayout.FRAGMENT_OFFSET, transfer.remoteOffset());
    int slot = (int) submitted & (RmaLayout.FRAGMENTS - 1);
    line[slot] = first;
    end[slot] = lines.end();
    length[slot] = bytes;
    into[slot] = write ? null : transfer.local();
    intoOffset[slot] = transfer.localOffset();
    operation[slot] = id;
    last[slot] = bytes == transfer.length();
    transfer.advance(bytes);
    INT.set(ALL, own + RmaLayout.submission(submitted), first);
    submitted++;
    // A full fence: a target that is awake or still handles earlier fragments sees this, or is seen
    // to be neither.
    LONG.setVolatile(ALL, own + RmaLayout.SUBMITTED, submitted);
    if ((int) INT.getVolatile(ALL, peer + RmaLayout.TARGET_AWAKE) == 0
        && (long) LONG.getVolatile(ALL, peer + RmaLayout.HANDLED) == submitted - 1) {
      notifyTarget.run();
    }
    return true;
  }

  /**
   * Reaps the completed fragments.
   *
   * @param listener notified of each fragment
   * @throws CorruptRingException if a value written by the peer is invalid
   */
  public void reap(Listener listener) {
    long handled = (long) LONG.getAcquire(ALL, peer + RmaLayout.HANDLED);
    if (handled < reaped || handled > submitted) {
      throw new CorruptRingException(
          "invalid count of handled fragments " + handled + ", with " + submitted + " submitted");
    }
    while (reaped < handled) {
      int slot = (int) reaped & (RmaLayout.FRAGMENTS - 1);
      long header = buffer + (long) line[slot] * RmaLayout.LINE;
      int status = (int) INT.get(ALL, header + RmaLayout.FRAGMENT_STATUS);
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
      MemorySegment.copy(ALL, payload, target, offset, bytes);
      return RmaLayout.DONE;
    } catch (IllegalStateException e) {
      return RmaLayout.FAULT; // the program has freed it
    }
  }

  /**
   * Abandons everything in flight: bytes that are read are discarded, and nothing more completes.
   */
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
   * Abandons an operation that was not submitted completely: its fragments in flight have no
   * effect.
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

  /**
   * Requests a wake-up when a fragment completes. The caller must check once more before it sleeps.
   */
  public void arm() {
    INT.setOpaque(ALL, own + RmaLayout.INITIATOR_ASLEEP, 1);
    VarHandle.fullFence(); // a fragment completed later sees this, or is seen to be complete
  }

  /** {@return whether the requested wake-up is still pending} */
  public boolean isArmed() {
    return (int) INT.getAcquire(ALL, own + RmaLayout.INITIATOR_ASLEEP) != 0;
  }

  /** Revokes {@link #arm}. */
  public void disarm() {
    INT.setVolatile(ALL, own + RmaLayout.INITIATOR_ASLEEP, 0);
  }
}
