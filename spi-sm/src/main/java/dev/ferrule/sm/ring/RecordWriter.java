// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.HEADER;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.posix.RawMemory;
import java.lang.foreign.MemorySegment;

/**
 * The part of {@link RingProducer} that keeps the sender's position and stores the records. A
 * record takes three steps: {@link #reserveRecord} reserves room; one of the {@code stage} methods
 * writes the record; {@link #publishRecords} makes all staged records visible to the receiver, by
 * one store of the first header. {@link #tryWrite} does all three for an inline message in the
 * common case.
 *
 * <p>Positions count bytes of records, from 0 without wrapping. A header of 0 is stored behind the
 * last staged record before the first one is published, so the receiver finds either the next
 * record or none.
 *
 * <p>A record does not cross a barrier: the end of the ring, the payload of a record that the
 * receiver's program holds, or that of the region claimed in place on this side. Padding is staged
 * in front of a barrier where the next record does not fit.
 *
 * <p>Not thread-safe.
 */
class RecordWriter {

  /** Returned by {@link #claim} if the region cannot be in the ring. */
  public static final long NO_OFFSET = -1;

  private static final long NO_POSITION = -1;

  final long ring; // the address
  final long inlineMax; // the length of the longest inline message

  private final RingLayout layout;
  private final long records; // the address
  private final long mask;

  private long tail; // position of the next record
  private long limit; // the next record and all reserved ones fit if they end here
  private long directLimit; // as limit, for tryWrite: 0 if something is reserved, claimed or staged
  private long reserved; // bytes of reserved, unstaged records, without the claimed one
  private long longest; // at least the size of the longest of these
  private long consumed; // the receiver's count, as last read
  private long held; // the receiver's HeldRecord, as last read

  private int endMarkerDistance; // from the tail to a header of 0 that was stored ahead; or 0

  // the region claimed in place
  private long claimed = NO_OFFSET; // its offset among the records
  private int claimedSize; // of its record; 0 if there is none
  private long limitBefore; // the limit before it was claimed

  // the first header that is staged and not published, and its position
  private long first = NO_POSITION;
  private long firstHeader;

  private int messagesUnpublished; // staged and not published

  RecordWriter(RingLayout layout, long ring) {
    this.layout = layout;
    this.ring = ring;
    this.records = ring + layout.recordsOffset();
    this.mask = layout.capacity() - 1;
    this.inlineMax = Math.min(layout.inlineMax(), layout.maxMessage());
    this.limit = limit();
    this.directLimit = limit;
  }

  /** Positions before this one are visible to the receiver. */
  long published() {
    return first == NO_POSITION ? tail : first;
  }

  /** Returns whether the receiver has records that it may give back. */
  final boolean hasUnreleasedRecords() {
    readConsumed();
    return published() != consumed || held != HeldRecord.NONE;
  }

  /** Returns the number of messages that are staged and not published. */
  public final int messagesUnpublished() {
    return messagesUnpublished;
  }

  /**
   * Reserves room for a record; returns whether there is any.
   *
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  boolean reserveRecord(int size) {
    directLimit = 0;
    if (tail + reservedAndClaimed() + size > contiguous() && !makeRoom(size)) {
      return false;
    }
    longest = reserved == 0 ? size : Math.max(longest, size);
    reserved += size;
    RingTestHook.reached(RingTestPoint.SENDER_RESERVED);
    return true;
  }

  /** Returns the limit. A region claimed at the tail is no barrier here, as it counts twice. */
  private long contiguous() {
    return claimed == (tail & mask) ? limitBefore : limit;
  }

  /**
   * Returns how many bytes are reserved or claimed. The claimed record counts twice: if another
   * message is staged first, padding covers the claimed place, and the claimed message is copied
   * behind that message.
   */
  private long reservedAndClaimed() {
    return reserved + 2L * claimedSize;
  }

  /** Gives back a reservation of {@link #reserveRecord}. */
  void unreserveRecord(int size) {
    reserved -= size;
  }

  /**
   * Reads the receiver's consumed count. If nothing else is reserved, the tail moves to where the
   * record fits; otherwise each record is placed when it is staged.
   */
  private boolean makeRoom(int size) {
    readConsumed();
    boolean result = fitsInOneGap(size) || fitsOneByOne(size);
    if (result && reservedAndClaimed() == 0) {
      moveTo(size);
    }
    limit = limit();
    return result;
  }

  /** Returns whether a record and all that is reserved fit between two barriers. */
  private boolean fitsInOneGap(int size) {
    long needed = reservedAndClaimed() + size;
    return placeFor(needed) + needed + HEADER <= roomEnd();
  }

  /**
   * Returns whether a record and all that is reserved fit in any order, each where there is room
   * for it. Each barrier may waste nearly the size of the longest record.
   */
  private boolean fitsOneByOne(int size) {
    long lost = Math.max(Math.max(longest, claimedSize), size) - HEADER;
    long needed = tail + reservedAndClaimed() + size + HEADER;
    long barrier = barrier(tail);
    while (barrier < roomEnd()) {
      long skipped = barrierSize(barrier);
      needed += lost + skipped;
      barrier = barrier(barrier + skipped);
    }
    return needed <= roomEnd();
  }

  /**
   * {@return the part of the ring that has records which the receiver has not consumed, from 0 to
   * 1} Any thread may call this, beside the sending one, so the value may be a moment old.
   */
  public final double fill() {
    long used = tail - (long) LONG.getAcquire(ALL, ring + RingLayout.CONSUMED);
    return Math.clamp((double) used / layout.capacity(), 0, 1);
  }

  /** Returns the position behind the room that the receiver has given back. */
  private long roomEnd() {
    return consumed + layout.capacity();
  }

  /**
   * Reads the counts that the receiver publishes.
   *
   * @throws CorruptRingException if they are not valid
   */
  void readConsumed() {
    long now = (long) LONG.getAcquire(ALL, ring + RingLayout.CONSUMED);
    long published = published();
    if (now < consumed || now > published || now % HEADER != 0) {
      throw new CorruptRingException(
          "the receiver's consumed count "
              + now
              + " is invalid: it was "
              + consumed
              + ", and "
              + published
              + " bytes are published");
    }
    consumed = now;
    // the receiver stores the held record before the consumed count that includes it
    long word = (long) LONG.getAcquire(ALL, ring + RingLayout.HELD);
    if (!HeldRecord.isValid(word, layout)) {
      throw new CorruptRingException(
          "the receiver's held record 0x" + Long.toHexString(word) + " is invalid");
    }
    held = word;
  }

  /**
   * Returns the position at which the next record and the reserved ones must end, if contiguous.
   */
  private long limit() {
    return Math.min(roomEnd() - HEADER, barrier(tail));
  }

  /** Returns the position of the next barrier at or after a position. */
  private long barrier(long position) {
    long result = (position | mask) + 1; // the end of the ring
    if (held != HeldRecord.NONE) {
      result = Math.min(result, next(HeldRecord.offset(held), position));
    }
    if (claimed != NO_OFFSET) {
      result = Math.min(result, next(claimed, position));
    }
    return result;
  }

  /** Returns how many bytes a record must skip at a barrier. */
  private long barrierSize(long barrier) {
    long offset = barrier & mask;
    if (offset == claimed) {
      return claimedSize;
    }
    return held != HeldRecord.NONE && offset == HeldRecord.offset(held) ? HeldRecord.size(held) : 0;
  }

  /**
   * Returns the first position, at or after the given one, that has an offset among the records.
   */
  private long next(long offset, long position) {
    return position + (offset - position & mask);
  }

  /** Returns the first position at or after the tail at which {@code size} bytes are contiguous. */
  private long placeFor(long size) {
    long position = tail;
    while (position + size > barrier(position) && position < roomEnd()) {
      long barrier = barrier(position);
      position = barrier + barrierSize(barrier);
    }
    return position;
  }

  /** Moves the tail to where a record of a size fits, and stages padding for the bytes between. */
  private void moveTo(int size) {
    long position = tail;
    while (position + size > barrier(position)) {
      long barrier = barrier(position);
      if (position < barrier) {
        addHeader(position, RecordHeader.padding(barrier - position));
      }
      long skipped = barrierSize(barrier);
      if (skipped > 0) {
        addHeader(barrier, RecordHeader.padding(skipped));
      }
      position = barrier + skipped;
    }
    tail = position;
    endMarkerDistance = 0;
  }

  /** Stores the header that marks a position as the end of the records. */
  private void storeEndMarker(long position) {
    LONG.set(ALL, address(position), 0L);
  }

  /** Returns the address of a position. */
  private long address(long position) {
    return RawMemory.word(records + (position & mask));
  }

  /**
   * Claims room at the tail for an inline message that the program writes in place. Fails if a
   * region is already claimed, if anything is reserved, or if there is no room for two such
   * records. The caller stages the region by {@link #stageClaim} or gives it back by {@link
   * #abortClaim}.
   *
   * @return its offset in {@link RingProducer#records}; or NO_OFFSET
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  public final long claim(int length) {
    int size = RingLayout.recordSize(length);
    if (length > inlineMax
        || (reserved | claimedSize) != 0
        || (tail + 2L * size > limit && !makeRoomTwice(size))) {
      return NO_OFFSET;
    }
    directLimit = 0;
    if (endMarkerDistance < size || first != NO_POSITION) {
      endMarkerDistance = 0; // the program may overwrite it
    }
    claimed = tail & mask;
    claimedSize = size;
    limitBefore = limit;
    limit = tail; // which is a barrier now
    RingTestHook.reached(RingTestPoint.SENDER_RESERVED);
    return claimed + HEADER;
  }

  /** Moves the tail to where a record fits, if there is room for it and another one behind it. */
  private boolean makeRoomTwice(int size) {
    readConsumed();
    boolean result = fitsInOneGap(2 * size);
    if (result) {
      moveTo(size);
    }
    limit = limit();
    return result;
  }

  /** Stages the region claimed in place, without a copy unless another message was staged since. */
  public final void stageClaim(int length) {
    if ((tail & mask) == claimed) {
      RingTestHook.reached(RingTestPoint.RECORD_WRITTEN);
      addHeader(tail, RecordHeader.inline(length));
      staged(RingLayout.recordSize(length));
    } else {
      stage(ALL, records + claimed + HEADER, length);
    }
    abortClaim();
  }

  /** Gives back the region claimed in place. */
  public final void abortClaim() {
    claimed = NO_OFFSET;
    claimedSize = 0;
    limit = limitBefore; // a barrier added meanwhile lies behind it
  }

  /**
   * Stages a reserved inline message. The copy precedes all changes: if it fails because the
   * program's memory was freed, nothing is staged.
   */
  public final void stageInline(MemorySegment source, long offset, int length, int reservedLength) {
    stage(source, offset, length);
    reserved -= RingLayout.recordSize(reservedLength);
  }

  private void stage(MemorySegment source, long offset, int length) {
    int size = RingLayout.recordSize(length);
    if (tail + size > limit) {
      moveTo(size);
      limit = limit();
    }
    endMarkerDistance = 0; // the copy may overwrite it, even if it then fails
    RawMemory.copy(source, offset, address(tail) + HEADER, length);
    RingTestHook.reached(RingTestPoint.RECORD_WRITTEN);
    addHeader(tail, RecordHeader.inline(length));
    staged(size);
  }

  /**
   * Stages an inline message, if there is room for it where the last one ends, and nothing is
   * reserved. Equivalent to {@link RingProducer#reserve} and {@link #stageInline}, in fewer steps.
   * If the copy fails, nothing is staged.
   *
   * @param anyLength its length, possibly invalid
   */
  public final boolean tryStage(MemorySegment source, long offset, long anyLength) {
    // excludes 0 bytes: they are not copied, so the offset would not be checked
    if (Long.compareUnsigned(anyLength - 1, inlineMax) >= 0) {
      return false;
    }
    int length = (int) anyLength;
    long at = tail;
    int size = RingLayout.recordSize(length);
    if (at + size > limit || (reserved | claimedSize) != 0) {
      return false;
    }
    endMarkerDistance = 0; // the copy may overwrite it, even if it then fails
    long record = address(at);
    RawMemory.copy(source, offset, record + HEADER, length);
    RingTestHook.reached(RingTestPoint.RECORD_WRITTEN);
    long header = RecordHeader.inline(length);
    if (first == NO_POSITION) {
      first = at;
      firstHeader = header;
      directLimit = 0;
    } else {
      LONG.set(ALL, record, header);
    }
    staged(size);
    return true;
  }

  /** Stages a reserved record that consists of a header. */
  void stageHeader(long header) {
    if (tail + HEADER > limit) {
      moveTo(HEADER);
      limit = limit();
    }
    RingTestHook.reached(RingTestPoint.RECORD_WRITTEN);
    addHeader(tail, header);
    reserved -= HEADER;
    staged(HEADER);
  }

  private void staged(int size) {
    tail += size;
    messagesUnpublished++;
    RingTestHook.reached(RingTestPoint.RECORD_STAGED);
  }

  /** Keeps the first header for {@link #publishRecords}; later ones are stored at once. */
  private void addHeader(long position, long header) {
    if (first == NO_POSITION) {
      first = position;
      firstHeader = header;
    } else {
      LONG.set(ALL, records + (position & mask), header);
    }
  }

  /**
   * Makes all staged records visible to the receiver. The caller must call {@link
   * #storeEndMarkerAhead} afterwards. After a single message, it assumes that the next one has the
   * same size.
   */
  final void publishRecords() {
    if (first != NO_POSITION) {
      if (endMarkerDistance == 0 || first + endMarkerDistance != tail) {
        storeEndMarker(tail);
      }
      LONG.setRelease(ALL, records + (first & mask), firstHeader);
      long size = tail - first;
      endMarkerDistance = messagesUnpublished == 1 && tail + size <= limit ? (int) size : 0;
      first = NO_POSITION;
    }
    messagesUnpublished = 0;
    if ((reserved | claimedSize) == 0) {
      directLimit = limit;
    }
  }

  /**
   * Writes and publishes an inline message at once, if there is room for it and another one where
   * the last one ends, and nothing is staged or reserved. The caller must call {@link
   * #storeEndMarkerAhead} afterwards.
   */
  boolean tryWrite(MemorySegment source, long offset, int length) {
    long at = tail;
    int size = RingLayout.recordSize(length);
    long next = at + size;
    if (next + size > directLimit) {
      return false;
    }
    if (size != endMarkerDistance) {
      storeEndMarker(next);
      endMarkerDistance = size;
    }
    long record = address(at);
    RawMemory.copy(source, offset, record + HEADER, length);
    RingTestHook.reached(RingTestPoint.RECORD_WRITTEN);
    LONG.setRelease(ALL, record, RecordHeader.inline(length));
    tail = next;
    return true;
  }

  /**
   * Stores the header of 0 behind the next record ahead of time, assuming that the next record is
   * as long as the last one. The store fetches its cache line from the receiver's cache; the next
   * record does not have to wait for that.
   */
  void storeEndMarkerAhead() {
    if (endMarkerDistance != 0) {
      storeEndMarker(tail + endMarkerDistance);
    }
  }
}
