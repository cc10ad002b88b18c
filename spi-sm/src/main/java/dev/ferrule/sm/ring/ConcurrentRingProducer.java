// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;

import dev.ferrule.support.AbstractSender;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntPredicate;

/**
 * The sending side of a ring for several threads of one process. {@link #trySend} writes an inline
 * message. For any other, {@link #reserve} claims payload lines and room for a record; the program
 * writes its message there; {@link #publish} writes the record.
 *
 * <p>Threads write records one after the other, under a {@link RecordLock}. The lock is revoked
 * from a thread that stops while it holds it: the others continue in another {@link Epoch}, and
 * later stores of the stopped thread go to private memory. That thread then sends its message
 * again, unless it was already visible to the receiver.
 *
 * <p>Payload lines are allocated and freed without a lock. A thread that stops keeps the lines it
 * has.
 */
public class ConcurrentRingProducer extends SendingEnd {

  /** Returned by {@link #reserve} when there is no room. */
  public static final int FULL = AbstractSender.FULL;

  /** Returned by {@link #trySend} when there is no room. */
  public static final long NOT_SENT = 0;

  // The lines used first. While little is in flight, they all stay in the second-level cache.
  private static final int WARM_LINES = 256 * 1024 / RingLayout.LINE;

  // The counts of payload lines, on separate cache lines to avoid false sharing, since any thread
  // writes each. All of them are monotonic: a result computed from counts that were read one after
  // the other is conservative, and a compare-and-swap of them is not subject to the ABA problem.
  private static final int APART = 16;
  private static final int CLAIMED = APART; // runs, ever
  private static final int ABORTED = 2 * APART; // claims that were given back
  private static final int RELEASED = 3 * APART; // release entries that were taken
  private static final int COUNTS = 4 * APART;

  private final RingLayout layout;
  private final Runnable onRoom;
  private final ConcurrentLineAllocator allocator;
  private final AtomicLongArray counts = new AtomicLongArray(COUNTS);
  private final AtomicInteger recordsReserved = new AtomicInteger(); // for claims
  private final RecordLock lock;
  private final int inlineMax;
  private final int releases;

  /**
   * Starts sending on a new ring.
   *
   * @param layout the ring's layout, with at least one line
   * @param ring the ring's memory
   * @param records a separate mapping of the ring's records
   * @param buffer the payload lines
   * @param fences whether a sleeping receiver relies on a fence here, because the two sides do not
   *     share membarrier(2)
   * @param waiters the waiting threads
   */
  public ConcurrentRingProducer(
      RingLayout layout,
      MemorySegment ring,
      RecordMemory records,
      MemorySegment buffer,
      boolean fences,
      Waiters waiters) {
    this(layout, ring, records, buffer, fences, waiters, RecordLock.Policy.ORDINARY);
  }

  /** Starts sending, with another policy of the lock. */
  ConcurrentRingProducer(
      RingLayout layout,
      MemorySegment ring,
      RecordMemory records,
      MemorySegment buffer,
      boolean fences,
      Waiters waiters,
      RecordLock.Policy policy) {
    super(layout, ring, buffer, fences);
    this.layout = layout;
    this.onRoom = waiters::wake;
    this.allocator = new Lines(layout.lines());
    this.inlineMax = Math.min(layout.inlineMax(), layout.maxMessage());
    this.releases = layout.releases();
    Epoch first = new Epoch(this, layout, records, Epoch.State.NEW);
    this.lock = new RecordLock(this, first, policy, waiters::checkOpen);
  }

  /** The threads that wait for room, or for each other. */
  public interface Waiters {

    /**
     * Wakes the waiting threads, which check for room again. Run by a thread that has made room
     * which they may have missed during their check.
     */
    void wake();

    /** Throws if the connection has ended. Run by a thread that waits for another one. */
    void checkOpen();
  }

  /** The lines, with the steps of their allocation reported. */
  private final class Lines extends ConcurrentLineAllocator {
    Lines(int lines) {
      super(lines);
    }

    @Override
    void partlyTaken() {
      reached(RingStep.SHARED_LINES_PARTLY_TAKEN);
    }

    @Override
    void rolledBack() {
      onRoom.run();
    }
  }

  /** {@return the maximum length of a message for {@link #trySend}, in bytes} */
  public int inlineMax() {
    return inlineMax;
  }

  /**
   * Sends an inline message, if there is room for it. The caller must check {@link #receiverAsleep}
   * afterwards.
   *
   * @param source the message's segment
   * @param offset the start of the message in it
   * @param length its length, 0 to {@link #inlineMax}
   * @return the message's number in the order of all, from 1; or NOT_SENT
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  public long trySend(MemorySegment source, long offset, int length) {
    while (true) {
      LockTenure tenure = enter();
      long id;
      try {
        id = tenure.epoch().trySend(source, offset, length, recordsReserved);
      } catch (CorruptRingException e) {
        rethrow(tenure, e);
        continue;
      } catch (Throwable e) {
        tenure.leave(); // the program's memory is gone, and nothing was written
        throw e;
      } finally {

        Reference.reachabilityFence(tenure);
      }
      if (leave(tenure, id)) {
        return id;
      }
    }
  }

  private LockTenure enter() {
    LockTenure tenure = lock.enter();
    reached(RingStep.SHARED_ENTERED);
    return tenure;
  }

  /**
   * Leaves the lock.
   *
   * @param id the message that this thread has sent, or 0
   * @return whether it was sent: the lock was not revoked, or only after the message was visible
   */
  private boolean leave(LockTenure tenure, long id) {
    if (tenure.leave()) {
      reached(RingStep.SHARED_LEFT);
      return true;
    }
    return id != 0 && lock.messagesAfter(tenure) >= id;
  }

  /**
   * Rethrows a failure unless the lock was revoked: the thread has then compared the receiver's
   * counts with stale ones.
   */
  private void rethrow(LockTenure tenure, CorruptRingException e) {
    if (tenure.leave()) {
      throw e;
    }
  }

  /**
   * Claims room for a message, which is to be {@linkplain #publish published} or {@linkplain #abort
   * aborted}.
   *
   * @param length the message's length, 0 to the layout's maximum
   * @return the message's first payload line, or FULL
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  public int reserve(int length) {
    if (!reserveRecord()) {
      return FULL;
    }
    reached(RingStep.SHARED_RECORD_RESERVED);
    int line = takeLines(Math.max(1, RingLayout.linesFor(length)));
    if (line == ConcurrentLineAllocator.NONE) {
      // needs no wake-up: a receiver that holds anything wakes the waiting threads when it releases
      // it
      recordsReserved.decrementAndGet();
      return FULL;
    }
    reached(RingStep.SHARED_CLAIMED);
    return line;
  }

  private boolean reserveRecord() {
    while (true) {
      LockTenure tenure = enter();
      boolean result;
      try {
        // counted under the lock, so that no other thread takes the same room
        result = tenure.epoch().reserve(recordsReserved.get());

      } catch (CorruptRingException e) {
        rethrow(tenure, e);
        continue;
      } finally {
        Reference.reachabilityFence(tenure);
      }
      if (result) {
        recordsReserved.incrementAndGet();
      }
      if (leave(tenure, NOT_SENT)) {
        return result;
      }
      if (result) {
        recordsReserved.decrementAndGet(); // that was room of the past
      }
    }
  }

  private int takeLines(int count) {
    int line = tryTakeLines(count, WARM_LINES);
    if (line == ConcurrentLineAllocator.NONE) {
      takeReleases();
      line = tryTakeLines(count, WARM_LINES);
    }
    return line == ConcurrentLineAllocator.NONE ? tryTakeLines(count, Integer.MAX_VALUE) : line;
  }

  private int tryTakeLines(int count, int limit) {
    if (!mayClaim(counts.get(CLAIMED))) {
      return ConcurrentLineAllocator.NONE;
    }
    int line = allocator.allocate(count, limit);
    if (line == ConcurrentLineAllocator.NONE) {
      return line;
    }
    reached(RingStep.SHARED_LINES_TAKEN);
    if (!claimRun()) {
      allocator.abort(line);
      onRoom.run();
      return ConcurrentLineAllocator.NONE;
    }
    return line;
  }

  /** Counts one more run of lines; returns whether one more is permitted. */
  private boolean claimRun() {
    while (true) {
      long claimed = counts.get(CLAIMED);
      if (!mayClaim(claimed)) {
        return false;
      }
      if (counts.compareAndSet(CLAIMED, claimed, claimed + 1)) {
        return true;
      }
    }
  }

  /**
   * Returns whether one more run is permitted after so many: the release ring must have an entry
   * for each run in use, or the receiver could overwrite an entry before it is read.
   */
  private boolean mayClaim(long claimed) {
    return claimed - counts.get(ABORTED) - counts.get(RELEASED) < releases;
  }

  private void takeReleases() {
    boolean freed = false;
    while (true) {
      long position = counts.get(RELEASED);
      int entry = (int) INT.getAcquire(ALL, ring + releaseOffset(position));
      if (ReleaseEntry.lap(entry) != ReleaseEntry.lap(position, releases - 1)) {
        if (counts.get(RELEASED) == position) {
          break;
        }
      } else if (counts.compareAndSet(RELEASED, position, position + 1)) {
        reached(RingStep.SHARED_RELEASE_TAKEN);
        free(ReleaseEntry.line(entry));
        freed = true;
      }
    }
    if (freed) {
      // a check between the two steps found neither the entry nor the lines
      reached(RingStep.SHARED_RELEASE_FREED);
      onRoom.run();
    }
  }

  private long releaseOffset(long position) {
    return RingLayout.RELEASES + (position & releases - 1) * Integer.BYTES;
  }

  private void free(int line) {
    if (!allocator.release(line)) {
      throw new CorruptRingException(
          "the receiver freed payload line " + line + ", at which no message starts");
    }
  }

  /**
   * Gives back a claim of {@link #reserve}.
   *
   * @param line the claimed line
   */
  public void abort(int line) {
    allocator.abort(line);
    reached(RingStep.SHARED_ABORTED_LINES);
    counts.incrementAndGet(ABORTED);
    recordsReserved.decrementAndGet();
    reached(RingStep.SHARED_ABORTED);
    onRoom.run();
  }

  /**
   * Publishes a message that is written in its reserved lines, which the receiver then owns. The
   * caller must check {@link #receiverAsleep} afterwards.
   *
   * @param line the line returned by {@link #reserve}
   * @param length the message's length, at most the reserved length
   * @return the message's number in the order of all, from 1
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  public long publish(int line, int length) {
    allocator.commit(line);
    reached(RingStep.SHARED_COMMITTED);
    while (true) {
      LockTenure tenure = enter();
      long id;
      try {
        id = tenure.epoch().publish(line, length, recordsReserved.get());
      } finally {
        Reference.reachabilityFence(tenure);
      }
      if (leave(tenure, id)) {
        recordsReserved.decrementAndGet();
        return id;
      }
    }
  }

  /**
   * Returns whether the receiver must be woken, after a message was published.
   *
   * @return the value of its flag, to be passed to {@link #receiverTold} after the wake-up; 0 if it
   *     is awake
   */
  public int receiverAsleep() {
    int flag = SleepFlag.lookAtReceiver(ring, fences);
    if (flag != 0) {
      reached(RingStep.SHARED_RECEIVER_ASLEEP);
    }
    return flag;
  }

  /**
   * Clears the receiver's flag, after the wake-up: other threads rely on a cleared flag, and this
   * thread may stop before the wake-up. The flag has another value each time the receiver goes to
   * sleep, so that a late call does not clear the next one.
   *
   * @param flag the value returned by {@link #receiverAsleep}
   */
  public void receiverTold(int flag) {
    reached(RingStep.SHARED_RECEIVER_TOLD);
    SleepFlag.putOut(ring, RingLayout.RECEIVER_ASLEEP, flag);
  }

  /**
   * Returns whether waiting for room cannot succeed: the receiver holds nothing that it could
   * release, all missing payload lines are in claims, and all of these belong to waiting threads.
   * An inline message can always wait: claims leave room for it.
   *
   * @param length the length of the message without room
   * @param isStuck whether the claim of a first line belongs to a waiting thread
   * @return whether it cannot; also false if anything changes meanwhile
   */
  public boolean isAllClaimed(int length, IntPredicate isStuck) {
    takeReleases();
    long aborted = counts.get(ABORTED);
    long released = counts.get(RELEASED);
    long claimed = counts.get(CLAIMED);
    // a committed run is not a claim
    return allocator.countClaimed(isStuck) == claimed - aborted - released
        && !(mayClaim(claimed)
            && mayReserve()
            && allocator.hasRun(Math.max(1, RingLayout.linesFor(length))))
        && counts.get(CLAIMED) == claimed
        && counts.get(RELEASED) == released
        && counts.get(ABORTED) == aborted;
  }

  /**
   * Returns whether a ring that the receiver has emptied has room for one more record of a claim.
   */
  private boolean mayReserve() {
    return (recordsReserved.get() + 2L) * RingLayout.HEADER <= layout.capacity();
  }

  /**
   * Counts every event that changes the free room.
   *
   * @return a monotonic number
   */
  public long progress() {
    return counts.get(CLAIMED) + counts.get(ABORTED) + counts.get(RELEASED) + messagesPublished();
  }

  @Override
  public long messagesPublished() {
    return lock.epoch().messages();
  }

  /** {@return the number of bytes of published messages} */
  public long bytesPublished() {
    return lock.epoch().bytes();
  }

  /** Retires the mapping of the records, as the connection ends. */
  public void retire() {
    lock.epoch().retire();
  }

  /** {@return the ring's layout} */
  public RingLayout layout() {
    return layout;
  }
}
