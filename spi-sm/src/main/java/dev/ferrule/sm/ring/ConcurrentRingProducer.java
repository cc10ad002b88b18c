// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.HEADER;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.spi.AbstractSender;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntPredicate;

/**
 * The sending side of a ring for several threads of one process, without a lock. {@link #reserve}
 * takes payload lines and a record; the program writes its message behind the {@link
 * RingLayout#SHARED_PREFIX}; {@link #publish} puts the place of the lines into the next record.
 *
 * <p>A message becomes visible, and gets its place in the order, by a single compare-and-swap of
 * its record, a header alone. A thread that stops before has nothing that others need, but what it
 * has claimed; one that stops behind it has only left the tail where it was, which others advance.
 *
 * <p>Every count here only grows, but for what it is limited by: so whatever a thread computes of
 * counts that it has read one after the other is on the safe side, and a compare-and-swap of them
 * cannot take an old value for the new one.
 */
public class ConcurrentRingProducer extends SendingEnd {

  /** What {@link #reserve} returns when there is no room. */
  public static final int FULL = AbstractSender.FULL;

  // The lines used first. As long as little is in flight they all stay in the second-level cache.
  private static final int WARM_LINES = 256 * 1024 / RingLayout.LINE;

  // The counts, on cache lines of their own, since each is written by whoever gets to it.
  private static final int APART = 16;
  private static final int CLAIMED = APART; // records, ever
  private static final int ABORTED = 2 * APART; // claims that were given back
  private static final int TAIL = 3 * APART; // messages published, ever; may be one behind
  private static final int CONSUMED = 4 * APART; // what the receiver last said it has taken
  private static final int RELEASED = 5 * APART; // release entries that were taken
  private static final int COUNTS = 7 * APART;

  private final RingLayout layout;
  private final Runnable onRoom;
  private final ConcurrentLineAllocator allocator;
  private final AtomicLongArray counts = new AtomicLongArray(COUNTS);
  private final int records; // how many there are, each of which is a header alone
  private final int ringShift;
  private final long first; // the address of the first
  private final int releases;

  /**
   * Starts to send on a ring that is new.
   *
   * @param layout the ring's layout, with at least one line
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param fences whether a sleeping receiver relies on a fence here, because the two sides do not
   *     share membarrier(2)
   * @param onRoom run by a thread that has made room which others may have missed while they looked
   *     for it; they are to look again
   */
  public ConcurrentRingProducer(
      RingLayout layout,
      MemorySegment ring,
      MemorySegment buffer,
      boolean fences,
      Runnable onRoom) {
    super(ring, buffer, fences);
    this.layout = layout;
    this.onRoom = onRoom;
    this.allocator = new Lines(layout.lines());
    this.records = layout.capacity() / HEADER;
    this.ringShift = layout.ringShift();
    this.first = this.ring + layout.recordsOffset();
    this.releases = layout.releases();
  }

  /** The lines, and what a thread tells while it takes them. */
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

  /**
   * Takes room for a message, which is to be {@linkplain #publish published} or {@linkplain #abort
   * aborted}.
   *
   * @param length the message's length, 0 to the layout's longest of this kind
   * @return the message's first payload line, or FULL
   * @throws CorruptRingException if the receiver's side of the ring cannot be right
   */
  public int reserve(int length) {
    // the record is only looked at before there are lines: if those are what lacks, no thread is to
    // find the last record taken for nothing, and to be woken up for that
    if (!hasRecord()) {
      return FULL;
    }
    int line = takeLines(RingLayout.sharedLinesFor(length));
    if (line == ConcurrentLineAllocator.NONE) {
      return FULL;
    }
    reached(RingStep.SHARED_LINES_TAKEN);
    if (!claimRecord()) {
      allocator.abort(line);
      onRoom.run();
      return FULL;
    }
    reached(RingStep.SHARED_CLAIMED);
    return line;
  }

  private boolean hasRecord() {
    if (mayClaim(counts.get(CLAIMED))) {
      return true;
    }
    readConsumed();
    takeReleases();
    return mayClaim(counts.get(CLAIMED));
  }

  /**
   * Whether one more claim is possible after so many: there has to be a record for each message
   * that the receiver has not taken, and for each that it has not freed an entry of the release
   * ring, which it could otherwise overwrite before it was read.
   */
  private boolean mayClaim(long claimed) {
    long valid = claimed - counts.get(ABORTED);
    return valid - counts.get(CONSUMED) < records && valid - counts.get(RELEASED) < releases;
  }

  private boolean claimRecord() {
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

  private int takeLines(int count) {
    int line = allocator.allocate(count, WARM_LINES);
    if (line == ConcurrentLineAllocator.NONE) {
      takeReleases();
      line = allocator.allocate(count, WARM_LINES);
    }
    return line == ConcurrentLineAllocator.NONE
        ? allocator.allocate(count, Integer.MAX_VALUE)
        : line;
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
      // whoever looked between the two found neither the entry nor the lines
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
          "the receiver freed payload line " + line + ", where no message starts");
    }
  }

  private void readConsumed() {
    long known = counts.get(CONSUMED);
    long bytes = (long) LONG.getAcquire(ALL, ring + RingLayout.CONSUMED);
    long now = bytes / HEADER;
    if (now > counts.get(TAIL)) {
      advanceTail(); // the one that published the last message may not have come to that
    }
    long published = counts.get(TAIL);
    if (now < known || now > published || bytes % HEADER != 0) {
      throw new CorruptRingException(
          "the receiver says it consumed "
              + bytes
              + " bytes, after "
              + known * HEADER
              + ", when "
              + published * HEADER
              + " were published");
    }
    while (known < now && !counts.compareAndSet(CONSUMED, known, now)) {
      known = counts.get(CONSUMED);
    }
  }

  /**
   * Gives back what {@link #reserve} took.
   *
   * @param line what it returned
   */
  public void abort(int line) {
    allocator.abort(line);
    reached(RingStep.SHARED_ABORTED_LINES);
    counts.incrementAndGet(ABORTED);
    reached(RingStep.SHARED_ABORTED);
    onRoom.run();
  }

  /**
   * Lets the receiver see a message, which is written in the lines that were reserved for it. The
   * lines are the receiver's then. {@link #receiverAsleep} is to be looked at afterwards.
   *
   * @param line what {@link #reserve} returned
   * @param length the message's length, not more than was reserved
   * @return the message's number in the order of all, from 1
   * @throws CorruptRingException if what is in the records is not valid
   */
  public long publish(int line, int length) {
    INT.set(ALL, buffer + (long) line * RingLayout.LINE, length);
    allocator.commit(line);
    reached(RingStep.SHARED_COMMITTED);
    while (true) {
      long position = counts.get(TAIL);
      long address = address(position);
      long found = (long) LONG.getAcquire(ALL, address);
      if (isOld(found, position)) {
        reached(RingStep.SHARED_RECORD_FOUND);
        // pairs with the receiver's acquiring load of the header
        long witness =
            (long) LONG.compareAndExchange(ALL, address, found, SharedWord.of(lap(position), line));
        if (witness == found) {
          reached(RingStep.SHARED_PUBLISHED);
          counts.compareAndSet(TAIL, position, position + 1);
          reached(RingStep.SHARED_TAIL_ADVANCED);
          return position + 1;
        }
        found = witness;
      }
      passBy(position, found);
    }
  }

  /**
   * Whether a word is what the position's record held in the lap before. There is room, so the
   * receiver has taken that.
   */
  private boolean isOld(long word, long position) {
    return position < records ? word == 0 : SharedWord.isOf(word, lap(position - records));
  }

  /** Goes on to the next position, in the place of the thread that has published at this one. */
  private void passBy(long position, long found) {
    if (SharedWord.isOf(found, lap(position))) {
      // aborts first, so that no claim is missed: that of this thread alone makes one more
      long aborted = counts.get(ABORTED);
      if (position >= counts.get(CLAIMED) - aborted) {
        throw new CorruptRingException(
            "the receiver wrote to record "
                + (position & records - 1)
                + ", where no message was sent");
      }
      counts.compareAndSet(TAIL, position, position + 1);
    } else if (counts.get(TAIL) == position) {
      throw new CorruptRingException(
          "the receiver wrote 0x"
              + Long.toHexString(found)
              + " to record "
              + (position & records - 1)
              + " after "
              + position
              + " messages");
    }
  }

  /** Advances the tail behind the last message that was published; it is one behind at most. */
  private void advanceTail() {
    long position = counts.get(TAIL);
    long found = (long) LONG.getAcquire(ALL, address(position));
    if (SharedWord.isOf(found, lap(position))) {
      passBy(position, found);
    }
  }

  private long lap(long position) {
    return SharedWord.lap(position * HEADER, ringShift);
  }

  private long address(long position) {
    return first + (position & records - 1) * HEADER;
  }

  /**
   * Looks whether the receiver has to be woken up, after something was published.
   *
   * @return what its flag says, to be given to {@link #receiverTold} when it was told; 0 if it is
   *     awake
   */
  public int receiverAsleep() {
    int flag = SleepFlag.lookAtReceiver(ring, fences);
    if (flag != 0) {
      reached(RingStep.SHARED_RECEIVER_ASLEEP);
    }
    return flag;
  }

  /**
   * Puts the receiver's flag out. That comes after the receiver was told: other threads rely on
   * whoever has put it out, and this one may stop before it tells. As the receiver's flag is
   * another number each time it goes to sleep, what comes late does not put out the next one.
   *
   * @param flag what {@link #receiverAsleep} returned
   */
  public void receiverTold(int flag) {
    reached(RingStep.SHARED_RECEIVER_TOLD);
    SleepFlag.putOut(ring, RingLayout.RECEIVER_ASLEEP, flag);
  }

  /**
   * Tells whether waiting for room is in vain: the receiver has nothing that it could still give
   * back, all the room is in claims, and all of these are of threads that wait.
   *
   * @param length the length of the message that there is no room for
   * @param isStuck whether the claim of a first line is of a thread that waits
   * @return whether it is; false as well if anything changes meanwhile
   */
  public boolean isAllClaimed(int length, IntPredicate isStuck) {
    readConsumed();
    takeReleases();
    long aborted = counts.get(ABORTED);
    long claimed = counts.get(CLAIMED);
    long published = counts.get(TAIL);
    // each message needs both, so a message between its swap and the tail's advance shows, too:
    // it is a claim without lines
    return counts.get(CONSUMED) == published
        && counts.get(RELEASED) == published
        && allocator.countClaimed(isStuck) == claimed - aborted - published
        && !(mayClaim(claimed) && allocator.hasRun(RingLayout.sharedLinesFor(length)))
        && counts.get(TAIL) == published
        && counts.get(CLAIMED) == claimed
        && counts.get(ABORTED) == aborted;
  }

  /**
   * Counts whatever changes the room that there is.
   *
   * @return a number that only grows
   */
  public long progress() {
    return counts.get(CLAIMED) + counts.get(ABORTED) + counts.get(TAIL) + counts.get(RELEASED);
  }

  @Override
  public long messagesPublished() {
    return counts.get(TAIL);
  }

  /**
   * Returns how the ring is laid out.
   *
   * @return the layout
   */
  public RingLayout layout() {
    return layout;
  }
}
