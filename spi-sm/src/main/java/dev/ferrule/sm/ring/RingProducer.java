// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.HEADER;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.sm.os.RawMemory;
import dev.ferrule.spi.AbstractSender;
import dev.ferrule.spi.LineAllocator;
import java.lang.foreign.MemorySegment;

/**
 * The sending side of a ring. A message takes three steps: {@link #reserve} takes room for its
 * record, and payload lines if it is not inline; one of the {@code stage} methods writes the
 * record; {@link #publish} makes all that is staged visible to the receiver, by one store: of the
 * first header.
 *
 * <p>Positions count bytes of records, from 0 and without end. Behind each record a header of 0 is
 * stored before the record is published, so the receiver finds the next record there or nothing.
 *
 * <p>A record does not cross a barrier: the end of the ring, the payload of a record that the
 * receiver's program holds, or that of the region that this side has claimed in place. Padding is
 * staged in front of a barrier where the next record does not fit.
 *
 * <p>Not for several threads at once.
 */
public class RingProducer extends SendingEnd {

  /** What {@link #reserve} returns when there is no room. */
  public static final int FULL = AbstractSender.FULL;

  /** What {@link #reserve} returns for an inline message: no line. */
  public static final int INLINE = -1;

  /** What {@link #trySend} returns if it has not sent the message. */
  public static final int NOT_SENT = -1;

  /** What {@link #claim} returns if the region cannot lie in the ring. */
  public static final long NOWHERE = -1;

  // The lines used first. As long as little is in flight they all stay in the second-level cache.
  private static final int WARM_LINES = 256 * 1024 / RingLayout.LINE;

  private final RingLayout layout;
  private final LineAllocator allocator;
  private final long recordsOffset;
  private final long records; // the address
  private final long mask;
  private final long inlineMax;
  private final int releaseMask;

  private long tail; // position of the next record
  private long limit; // the next record, and all that is reserved, fit if they end here
  private long directLimit; // the same for trySend: 0 if something is reserved or staged
  private long reserved; // bytes of records that are reserved and not staged
  private long consumed; // what the receiver last said
  private long held; // a HeldRecord: what the receiver last said

  private int markedSize; // a header of 0 was stored so far behind the tail, ahead of time; or 0

  // the region that was claimed in place
  private long claimed = NOWHERE; // its offset among the records
  private int claimedSize; // of its record

  // the first header that is staged and not published, and its position
  private long first = NOWHERE;
  private long firstHeader;

  private long released; // how many release entries were taken
  private long messagesStaged;
  private long messagesUnpublished; // of those

  /**
   * Starts to send on a ring that is new.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param fences whether a sleeping receiver relies on a fence here, because the two sides do not
   *     share membarrier(2)
   */
  public RingProducer(RingLayout layout, MemorySegment ring, MemorySegment buffer, boolean fences) {
    super(ring, buffer, fences);
    this.layout = layout;
    this.allocator = new LineAllocator(layout.lines());
    this.recordsOffset = layout.recordsOffset();
    this.records = this.ring + recordsOffset;
    this.mask = layout.capacity() - 1;
    this.inlineMax = Math.min(layout.inlineMax(), layout.maxMessage());
    this.releaseMask = layout.releases() - 1;
    this.limit = limit();
    this.directLimit = limit;
  }

  /**
   * Takes room for a message, which is to be staged or given back by {@link #unreserve}.
   *
   * @param length the message's length, 0 to the layout's longest
   * @return the message's first payload line; or INLINE, or FULL
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  public int reserve(int length) {
    directLimit = 0;
    if (length > inlineMax) {
      return reserveLines(RingLayout.linesFor(length));
    }
    return reserveRecord(RingLayout.recordSize(length)) ? INLINE : FULL;
  }

  private boolean reserveRecord(int size) {
    if (tail + reserved + size > limit && !makeRoom(size)) {
      return false;
    }
    reserved += size;
    reached(RingStep.SENDER_RESERVED);
    return true;
  }

  /**
   * Looks what the receiver has consumed. If nothing else is reserved, the tail moves to where the
   * record fits; otherwise each record finds its place when it is staged.
   */
  private boolean makeRoom(int size) {
    readConsumed();
    boolean result = hasRoom(size);
    if (result && reserved == 0) {
      moveTo(size);
    }
    limit = limit();
    return result;
  }

  /** Whether there is room for a record beside what is reserved, wherever the barriers are. */
  private boolean hasRoom(int size) {
    long needed = reserved + size;
    return placeFor(needed) + needed + HEADER <= consumed + layout.capacity();
  }

  /** Positions before this one are visible to the receiver. */
  private long published() {
    return first == NOWHERE ? tail : first;
  }

  private void readConsumed() {
    long now = (long) LONG.getAcquire(ALL, ring + RingLayout.CONSUMED);
    long published = published();
    if (now < consumed || now > published || now % HEADER != 0) {
      throw new CorruptRingException(
          "the receiver says it consumed "
              + now
              + " bytes, after "
              + consumed
              + ", when "
              + published
              + " were published");
    }
    consumed = now;
    // the receiver stores what it holds before it says that it has consumed that
    long word = (long) LONG.getAcquire(ALL, ring + RingLayout.HELD);
    if (!HeldRecord.isValid(word, layout)) {
      throw new CorruptRingException("the receiver says it holds 0x" + Long.toHexString(word));
    }
    held = word;
  }

  /** Where the next record and what is reserved have to end, if they are to lie side by side. */
  private long limit() {
    return Math.min(consumed + layout.capacity() - HEADER, barrier(tail));
  }

  /** The position of the next barrier: at a position, or behind it. */
  private long barrier(long position) {
    long result = (position | mask) + 1; // the end of the ring
    if (held != HeldRecord.NONE) {
      result = Math.min(result, next(HeldRecord.offset(held), position));
    }
    if (claimed != NOWHERE) {
      result = Math.min(result, next(claimed, position));
    }
    return result;
  }

  /** How many bytes a record has to skip at a barrier. */
  private long barrierSize(long barrier) {
    long offset = barrier & mask;
    if (offset == claimed) {
      return claimedSize;
    }
    return held != HeldRecord.NONE && offset == HeldRecord.offset(held) ? HeldRecord.size(held) : 0;
  }

  /** The first position that has an offset among the records. */
  private long next(long offset, long position) {
    return position + (offset - position & mask);
  }

  /** The first position, from the tail on, where so many bytes lie side by side. */
  private long placeFor(long size) {
    long position = tail;
    long end = consumed + layout.capacity();
    while (position < end) {
      long barrier = barrier(position);
      if (position + size <= barrier) {
        return position;
      }
      position = barrier + barrierSize(barrier);
    }
    return position;
  }

  /** Moves the tail to where a record of a size fits. The receiver skips what lies between. */
  private void moveTo(int size) {
    long position = tail;
    while (true) {
      long barrier = barrier(position);
      if (position + size <= barrier) {
        break;
      }
      if (position < barrier) {
        note(position, RecordHeader.padding(barrier - position));
      }
      long skipped = barrierSize(barrier);
      if (skipped > 0) {
        note(barrier, RecordHeader.padding(skipped));
      }
      position = barrier + skipped;
    }
    if (position != tail) {
      mark(position);
      tail = position;
    }
  }

  /** Stores that no record begins at a position. */
  private void mark(long position) {
    LONG.set(ALL, address(position), 0L);
  }

  /** Where the bytes of a position are. */
  private long address(long position) {
    return RawMemory.word(records + (position & mask));
  }

  private int reserveLines(int count) {
    int line = hasReleaseEntry() ? allocator.allocate(count, WARM_LINES) : LineAllocator.NONE;
    if (line == LineAllocator.NONE) {
      takeReleases();
      line = hasReleaseEntry() ? allocator.allocate(count, WARM_LINES) : LineAllocator.NONE;
    }
    if (line == LineAllocator.NONE && hasReleaseEntry()) {
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
   * Whether the release ring could hold one more message's lines without the receiver overwriting
   * what was not taken from it.
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
            "the receiver freed payload line " + line + ", where no message starts");
      }
      allocator.release(line);
      released++;
    }
  }

  /**
   * Returns whether the receiver has anything that it could still give back. If not, and there is
   * no room, then waiting for room is in vain: it is all reserved on this side.
   *
   * @return whether the receiver has
   */
  public boolean isAnythingOut() {
    takeReleases();
    readConsumed();
    return published() != consumed || held != HeldRecord.NONE || allocator.isAnythingCommitted();
  }

  /**
   * Gives back what {@link #reserve} took.
   *
   * @param line what it returned
   * @param length what it was given
   */
  public void unreserve(int line, int length) {
    if (line >= 0) {
      allocator.release(line);
      reserved -= HEADER;
    } else {
      reserved -= RingLayout.recordSize(length);
    }
  }

  /**
   * Finds a place in the ring for an inline message that was reserved, where the program writes it.
   * There is none while another region is claimed in place, nor where a message that is staged
   * before it would leave no room for it. The region is to be staged by {@link #stageClaim} or
   * given back by {@link #abortClaim}.
   *
   * @param length the message's length, as it was reserved
   * @return the offset in the ring's memory; or NOWHERE
   */
  public long claim(int length) {
    int size = RingLayout.recordSize(length);
    if (claimed != NOWHERE || tail + size > limit) {
      return NOWHERE;
    }
    // if another message is staged first, this one is copied behind it
    if (tail + reserved + size > limit) {
      readConsumed();
      if (!hasRoom(size)) {
        return NOWHERE;
      }
    }
    reserved += size;
    markedSize = 0; // the program may overwrite it
    claimed = tail & mask;
    claimedSize = size;
    limit = limit();
    return recordsOffset + claimed + HEADER;
  }

  /**
   * Stages the region that was claimed in place: where it lies, unless another message was staged
   * since.
   *
   * @param length the message's length, not more than was claimed
   */
  public void stageClaim(int length) {
    if ((tail & mask) == claimed) {
      int size = RingLayout.recordSize(length);
      mark(tail + size);
      reached(RingStep.SENDER_WRITTEN);
      note(tail, RecordHeader.inline(length));
      staged(size);
    } else {
      stage(ALL, records + claimed + HEADER, length);
    }
    abortClaim();
  }

  /** Gives back the region that was claimed in place, and what was reserved for it. */
  public void abortClaim() {
    reserved -= 2L * claimedSize;
    claimed = NOWHERE;
    limit = limit();
  }

  /**
   * Stages an inline message that was reserved.
   *
   * @param source holds the message
   * @param offset where in it the message starts
   * @param length its length, not more than was reserved
   * @param reservedLength the length that was reserved, of an inline message
   */
  public void stageInline(MemorySegment source, long offset, int length, int reservedLength) {
    stage(source, offset, length);
    reserved -= RingLayout.recordSize(reservedLength);
  }

  // The copy goes first: it fails if the program's memory is gone, and then nothing is staged.
  private void stage(MemorySegment source, long offset, int length) {
    int size = RingLayout.recordSize(length);
    if (tail + size > limit) {
      moveTo(size);
      limit = limit();
    }
    write(source, offset, length, tail + size);
    note(tail, RecordHeader.inline(length));
    staged(size);
  }

  private void write(MemorySegment source, long offset, int length, long end) {
    mark(end);
    RawMemory.copy(source, offset, address(tail) + HEADER, length);
    reached(RingStep.SENDER_WRITTEN);
  }

  /**
   * Stages a message in lines, which are reserved and written.
   *
   * @param line its first line
   * @param length its length, not more than was reserved
   */
  public void stageLines(int line, int length) {
    allocator.commit(line);
    if (tail + HEADER > limit) {
      moveTo(HEADER);
      limit = limit();
    }
    mark(tail + HEADER);
    reached(RingStep.SENDER_WRITTEN);
    note(tail, RecordHeader.lines(line, length));
    reserved -= HEADER;
    staged(HEADER);
  }

  private void staged(int size) {
    tail += size;
    messagesStaged++;
    messagesUnpublished++;
    reached(RingStep.SENDER_STAGED);
  }

  /** Notes the first header for {@link #publish}; those behind it are stored at once. */
  private void note(long position, long header) {
    if (first == NOWHERE) {
      first = position;
      firstHeader = header;
    } else {
      LONG.set(ALL, records + (position & mask), header);
    }
  }

  /**
   * Makes all staged messages visible to the receiver.
   *
   * @return by what the receiver sleeps, and has to be woken up; 0 if it does not
   */
  public int publish() {
    if (first != NOWHERE) {
      LONG.setRelease(ALL, records + (first & mask), firstHeader);
      first = NOWHERE;
    }
    messagesUnpublished = 0;
    markedSize = 0;
    if (reserved == 0) {
      directLimit = limit;
    }
    return wake();
  }

  /**
   * Sends an inline message at once, if there is room for it and another one where the last one
   * ends, nothing is staged, and nothing is reserved. It does what {@link #reserve}, {@link
   * #stageInline} and {@link #publish} do, in fewer steps.
   *
   * <p>The header of 0 behind the next record is stored ahead of time, as if that were as long as
   * this one: its line has to be fetched from the receiver's cache, which the next record need not
   * wait for then.
   *
   * @param source holds the message
   * @param offset where in it the message starts
   * @param length its length, whatever it is
   * @return by what the receiver sleeps, and has to be woken up; 0 if it does not; NOT_SENT
   */
  public int trySend(MemorySegment source, long offset, long length) {
    // not 0 bytes either: they are not copied, so the offset would not be checked
    if (Long.compareUnsigned(length - 1, inlineMax) >= 0) {
      return NOT_SENT;
    }
    long at = tail;
    int size = RingLayout.recordSize((int) length);
    long end = at + size;
    if (end + size > directLimit) {
      return NOT_SENT;
    }
    if (size != markedSize) {
      mark(end);
      markedSize = size;
    }
    long record = address(at);
    RawMemory.copy(source, offset, record + HEADER, (int) length);
    reached(RingStep.SENDER_WRITTEN);
    LONG.setRelease(ALL, record, RecordHeader.inline((int) length));
    tail = end;
    messagesStaged++;
    int asleep = wake();
    mark(end + size);
    return asleep;
  }

  private int wake() {
    reached(RingStep.SENDER_PUBLISHED);
    int asleep = SleepFlag.wakeReceiver(ring, fences);
    if (asleep != 0) {
      reached(RingStep.SENDER_WAKES);
    }
    return asleep;
  }

  /**
   * Returns how many messages were staged, ever.
   *
   * @return the number of messages
   */
  public long messagesStaged() {
    return messagesStaged;
  }

  @Override
  public long messagesPublished() {
    return messagesStaged - messagesUnpublished;
  }

  /** Takes back {@link #armSleep}. */
  public void disarmSleep() {
    SleepFlag.disarm(ring, RingLayout.SENDER_ASLEEP);
  }
}
