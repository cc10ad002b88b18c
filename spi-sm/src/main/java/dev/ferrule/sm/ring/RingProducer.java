// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.HEADER;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.posix.Futex;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.support.AbstractSender;
import dev.ferrule.support.LineAllocator;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/**
 * The sending side of a ring, for one thread at a time. A message takes three steps: {@link
 * #reserve} reserves room for its record, and payload lines if it is not inline; one of the {@code
 * stage} methods writes the record; {@link #publish} makes all staged messages visible to the
 * receiver. The superclass stores the records; this class handles payload lines and wake-ups.
 *
 * <p>Memory ordering: {@link #publish} stores the first staged header with release semantics. The
 * receiver's acquire load of that header makes the records and their payload lines visible. Room is
 * reused after an acquire load of what {@link RingConsumer#acknowledge}, {@link
 * RingConsumer#endHold} or {@link RingConsumer#release} has stored.
 */
public final class RingProducer extends RecordWriter {

  /** Returned by {@link #reserve} when there is no room. */
  public static final int FULL = AbstractSender.FULL;

  /** Returned by {@link #reserve} for an inline message: no line. */
  public static final int INLINE = -1;

  /**
   * Returned by {@link #trySend} if it has not sent the message. No sleeping receiver's flag has
   * this value.
   */
  public static final int NOT_SENT = -1;

  // The lines used first. While few messages are in flight, these lines stay in the second-level
  // cache.
  private static final int WARM_LINES = 256 * 1024 / RingLayout.LINE;

  // A second-level cache of 2 MiB holds the source of such a message and one destination, but not
  // two destinations.
  private static final int LARGE_LINES = 512 * 1024 / RingLayout.LINE;

  /** A twentieth of the time of a copy of LARGE_LINES. */
  private static final int RELEASE_NANOS = 1_000;

  private static final int MAX_RELEASE_DELAY = 64;

  /** Without {@link SleepFlag#ON_FLAG}: a sender is always woken by the endpoint's thread. */
  private static final int SENDER_SLEEPS = 2;

  private final long flagRing; // the address of the ring with the flag of the receiver
  private final long buffer; // the address
  private final MemorySegment recordsView; // no control words, which a program could overwrite
  private final MemorySegment bufferView;
  private final boolean fences;
  private final LineAllocator allocator;
  private final int releaseMask;
  private final LongSupplier nanoTime;

  private int releaseDelay; // number of large runs until the next wait for a release
  private int nextReleaseDelay = 1;
  private long released; // number of release entries consumed

  /**
   * Starts sending on a new ring.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param first the connection's first ring, which has the flag of the receiver
   * @param fences whether a sleeping receiver relies on a fence here, because the two sides do not
   *     share membarrier(2)
   */
  public RingProducer(
      RingLayout layout,
      MemorySegment ring,
      MemorySegment buffer,
      MemorySegment first,
      boolean fences) {
    this(layout, ring, buffer, first, fences, System::nanoTime);
  }

  /** For tests, with their own clock. */
  RingProducer(
      RingLayout layout,
      MemorySegment ring,
      MemorySegment buffer,
      MemorySegment first,
      boolean fences,
      LongSupplier nanoTime) {
    super(layout, RawMemory.address(ring));
    RingTestHook.reached(RingTestPoint.OPENING_PRODUCER);
    this.nanoTime = nanoTime;
    this.flagRing = RawMemory.address(first);
    this.buffer = RawMemory.address(buffer);
    this.recordsView = ring.asSlice(layout.recordsOffset(), layout.capacity());
    this.bufferView = buffer;
    this.fences = fences;
    this.allocator = new LineAllocator(layout.lines());
    this.releaseMask = layout.releases() - 1;
  }

  /** {@return the records: the memory in which {@link #claim} returns an offset} */
  public MemorySegment records() {
    return recordsView;
  }

  /** {@return the payload lines, of {@link RingLayout#LINE} bytes each} */
  public MemorySegment buffer() {
    return bufferView;
  }

  /**
   * Copies a message to payload lines.
   *
   * @param source the message's segment
   * @param offset the start of the message in it
   * @param line the first line, which is reserved
   * @param length the message's length in bytes
   */
  public void write(MemorySegment source, long offset, int line, int length) {
    RawMemory.copy(source, offset, buffer + (long) line * RingLayout.LINE, length);
  }

  /**
   * Reserves room for a message. The caller stages the message or calls {@link #unreserve}.
   *
   * @param length the message's length, 0 to the layout's maximum
   * @return the message's first payload line; or INLINE, or FULL
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  public int reserve(int length) {
    if (length > inlineMax) {
      return reserveLines(RingLayout.linesFor(length));
    }
    return reserveRecord(RingLayout.recordSize(length)) ? INLINE : FULL;
  }

  private int reserveLines(int count) {
    int line = hasReleaseEntry() ? allocator.allocate(count, WARM_LINES) : LineAllocator.NONE;
    if (line == LineAllocator.NONE) {
      takeReleases();
      line = hasReleaseEntry() ? allocator.allocate(count, WARM_LINES) : LineAllocator.NONE;
    }
    if (line == LineAllocator.NONE && hasReleaseEntry()) {
      if (count >= LARGE_LINES && allocator.runs() == 1 && allocator.isAnythingCommitted()) {
        awaitRelease();
      }
      line = allocator.allocate(count, Integer.MAX_VALUE);
    }
    if (line == LineAllocator.NONE) {
      return FULL;
    }
    if (!reserveRecord(HEADER)) {
      allocator.release(line);
      return FULL;
    }
    return line;
  }

  /**
   * Waits briefly for the lines of the last large message, so that this one reuses them: they are
   * in this processor's cache, and two such messages would evict each other. A receiver that only
   * reads a message releases it at once. Each unsuccessful wait doubles the number of messages that
   * skip it.
   */
  private void awaitRelease() {
    if (releaseDelay > 0) {
      releaseDelay--;
      return;
    }
    long start = nanoTime.getAsLong();
    do {
      Thread.onSpinWait();
      takeReleases();
      if (allocator.runs() == 0) {
        nextReleaseDelay = 1;
        return;
      }
    } while (nanoTime.getAsLong() - start < RELEASE_NANOS);
    releaseDelay = nextReleaseDelay;
    nextReleaseDelay = Math.min(MAX_RELEASE_DELAY, 2 * nextReleaseDelay);
  }

  /**
   * Returns whether the release ring has an entry for one more message's lines, so that the
   * receiver overwrites no entry that is still to be read.
   */
  private boolean hasReleaseEntry() {
    return allocator.runs() <= releaseMask;
  }

  private void takeReleases() {
    while (true) {
      int entry =
          (int) INT.getAcquire(ALL, ring + RingLayout.RELEASES + (released & releaseMask) * 4);
      if (ReleaseEntry.lap(entry) != ReleaseEntry.lap(released, releaseMask)) {
        return;
      }
      int line = ReleaseEntry.line(entry);
      if (!allocator.isCommitted(line)) {
        throw new CorruptRingException(
            "the receiver freed payload line " + line + ", at which no message starts");
      }
      allocator.release(line);
      released++;
    }
  }

  /**
   * {@return whether the receiver holds anything that it could release} If not, and there is no
   * room, waiting for room cannot succeed: all of it is reserved on this side.
   */
  public boolean isReceiverHoldingRoom() {
    takeReleases();
    return hasUnreleasedRecords() || allocator.isAnythingCommitted();
  }

  /**
   * Gives back a reservation of {@link #reserve}.
   *
   * @param line the value that it returned
   * @param length the reserved length
   */
  public void unreserve(int line, int length) {
    if (line >= 0) {
      allocator.release(line);
      unreserveRecord(HEADER);
    } else {
      unreserveRecord(RingLayout.recordSize(length));
    }
  }

  /**
   * Stages a message in lines, which are reserved and written.
   *
   * @param line its first line
   * @param length its length, at most the reserved length
   */
  public void stageLines(int line, int length) {
    allocator.commit(line);
    stageHeader(RecordHeader.lines(line, length));
  }

  /**
   * Makes all staged messages visible to the receiver.
   *
   * @return the flag of a sleeping receiver, to be woken by {@link #wakeOnFlag} if it {@link
   *     #isOnFlag}, and otherwise by its endpoint's thread, followed by {@link #clear}; 0 if it is
   *     awake
   */
  public int publish() {
    publishRecords();
    int asleep = wake();
    storeEndMarkerAhead();
    return asleep;
  }

  /**
   * Sends an inline message at once, if there is room for it and another one where the last one
   * ends, nothing is staged, and nothing is reserved. Equivalent to {@link #reserve}, {@link
   * #stageInline} and {@link #publish}, in fewer steps.
   *
   * @param source the message's segment
   * @param offset the start of the message in it
   * @param length its length, possibly invalid
   * @return the flag of a sleeping receiver, as {@link #publish}; 0 if it is awake; NOT_SENT
   */
  public int trySend(MemorySegment source, long offset, long length) {
    // excludes 0 bytes: they are not copied, so the offset would not be checked
    if (Long.compareUnsigned(length - 1, inlineMax) >= 0
        || !tryWrite(source, offset, (int) length)) {
      return NOT_SENT;
    }
    int asleep = wake();
    storeEndMarkerAhead();
    return asleep;
  }

  private int wake() {
    RingTestHook.reached(RingTestPoint.SENDER_PUBLISHED);
    int asleep = SleepFlag.lookAtReceiver(flagRing, fences);
    if (asleep != 0) {
      RingTestHook.reached(RingTestPoint.SENDER_WAKES);
    }
    return asleep;
  }

  /**
   * {@return whether a receiver is woken by {@link #wakeOnFlag}, and not by its endpoint's thread}
   *
   * @param flag the value of its flag, not 0
   */
  public static boolean isOnFlag(int flag) {
    return (flag & SleepFlag.ON_FLAG) != 0;
  }

  /**
   * Wakes the receiving thread that sleeps on its flag. The flag is changed first, so that a
   * receiver that is about to sleep does not. The new value is not 0: if this thread stops before
   * the wake-up, other senders still wake the receiver.
   *
   * @param flag the flag's value, possibly changed by another sender
   */
  public void wakeOnFlag(int flag) {
    int marked = flag | SleepFlag.WOKEN;
    SleepFlag.exchange(flagRing, RingLayout.RECEIVER_ASLEEP, flag, marked);
    RingTestHook.reached(RingTestPoint.SENDER_MARKED);
    Futex.wake(flagRing + RingLayout.RECEIVER_ASLEEP);
    clear(marked);
  }

  /**
   * Clears the flag of a receiver that was woken, unless it has gone to sleep again since.
   *
   * @param flag the flag's value
   */
  public void clear(int flag) {
    RingTestHook.reached(RingTestPoint.SENDER_HAS_WOKEN);
    SleepFlag.exchange(flagRing, RingLayout.RECEIVER_ASLEEP, flag, 0);
  }

  /**
   * Announces that a thread of this side goes to sleep until there is room. The caller must check
   * once more before it sleeps.
   */
  public void armSleep() {
    SleepFlag.arm(ring, RingLayout.SENDER_ASLEEP, SENDER_SLEEPS, fences);
  }

  /**
   * {@return whether {@link #armSleep} is still in force: the receiver has not woken this side yet}
   */
  public boolean isSleepArmed() {
    return SleepFlag.isArmed(ring, RingLayout.SENDER_ASLEEP);
  }

  /** Revokes {@link #armSleep}. */
  public void disarmSleep() {
    SleepFlag.disarm(ring, RingLayout.SENDER_ASLEEP);
  }

  /**
   * Notifies the receiver that a sender uses a lane from now on.
   *
   * @param lane the lane's number, from 0
   */
  public void markUsed(int lane) {
    long ignored = (long) LONG.getAndBitwiseOr(ALL, flagRing + RingLayout.SENDER_LANES, 1L << lane);
  }

  /**
   * Notifies the receiver that the last message of the first ring and of all lanes was published,
   * while the connection stays open.
   *
   * @return the flag of a sleeping receiver, as {@link #publish}; 0 if it is awake
   */
  public int markEnded() {
    INT.setRelease(ALL, flagRing + RingLayout.SENDER_ENDED, 1);
    return wake();
  }

  /**
   * Notifies the receiver that the last message of all lanes was published.
   *
   * @param reason why the connection ends; not 0
   */
  public void markClosed(int reason) {
    INT.setRelease(ALL, flagRing + RingLayout.SENDER_CLOSED, reason);
    VarHandle.fullFence();
  }
}
