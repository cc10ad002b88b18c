// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.spi.AbstractSender;
import dev.ferrule.spi.LineAllocator;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * The sending side of a ring. A message takes three steps: {@link #reserve} takes a slot, and
 * payload lines if the message does not ride inline; one of the {@code stage} methods puts the
 * message into the next slot, or its place; {@link #publish} makes all that is staged visible to
 * the receiver, by one store: of the first header. Those behind it are stored before, as the
 * receiver does not look at them.
 *
 * <p>Short messages go behind each other into one slot, the open one, as long as they fit. The rest
 * of it was zeroed before the first of them was published, so that the receiver, who looks for the
 * next header there, finds it or nothing. For the same reason, the slot behind what is staged never
 * begins with bytes of an older message; so one slot is always left free.
 *
 * <p>Not for several threads at once.
 */
public class RingProducer extends SendingEnd {

  /** What {@link #reserve} returns when there is no room. */
  public static final int FULL = AbstractSender.FULL;

  /** What {@link #reserve} returns for a message that rides inline: no line. */
  public static final int INLINE = -1;

  // The lines used first. As long as little is in flight they all stay in the second-level cache.
  private static final int WARM_LINES = 256 * 1024 / RingLayout.LINE;

  private static final MemorySegment ZEROS =
      Arena.global().allocate(RingLayout.SLOT, RingLayout.LINE);
  private static final long NOTHING = 0; // no slot lies at that offset

  private final RingLayout layout;
  private final LineAllocator allocator;
  private final int slots;
  private final int inlineMax;
  private final long slotsOffset;
  private final int releaseMask;

  // the first header that is staged and not published, and where it belongs
  private long first = NOTHING;
  private int firstHeader;

  private long tail; // position of the next slot to stage
  private int index; // its index,
  private long slot; // its offset in the ring,
  private int lap; // and the lap it is in
  private boolean zeroed; // whether that slot is
  private final BitSet noHeader; // slots that begin with bytes of a message, or an older header
  private long open = NOTHING; // the offset in the ring of the next header in the slot before
  private int openRoom; // how many bytes that slot has from there on
  private int openLap;
  private long published; // positions before this one are visible to the receiver
  private int reserved; // slots that were reserved and not staged
  private long consumed; // what the receiver last said it has taken; never more than that
  private long released; // how many release entries were taken
  private long messagesStaged;
  private long messagesPublished;

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
    this.slots = layout.slots();
    this.inlineMax = layout.inlineMax();
    this.slotsOffset = layout.slotsOffset();
    this.releaseMask = layout.releases() - 1;
    this.noHeader = new BitSet(slots);
    this.slot = slotsOffset;
    this.lap = RingHeader.lap(0, layout.slotsShift());
  }

  /**
   * Takes room for a message, which is to be staged or given back by {@link #unreserve}.
   *
   * @param length the message's length, 0 to the layout's longest
   * @return the message's first payload line; or INLINE, or FULL
   * @throws CorruptRingException if the receiver's side of the ring cannot be right
   */
  public int reserve(int length) {
    int count = slotsToReserve(length);
    if (tail + reserved + count - consumed >= slots && !hasSlots(count) && !isRoomInside(length)) {
      return FULL;
    }
    int line = length <= inlineMax ? INLINE : reserveLines(RingLayout.linesFor(length));
    if (line != FULL) {
      reserved += count;
      reached(RingStep.SENDER_RESERVED);
    }
    return line;
  }

  /**
   * A message of several slots may find the end of the ring too near, and leave out up to all but
   * one of them. Whether it does is only known when it is sent; but then it must not have to wait.
   */
  private int slotsToReserve(int length) {
    return length <= inlineMax ? 2 * RingLayout.slotsFor(length) - 1 : 1;
  }

  private boolean hasSlots(int count) {
    long now = (long) LONG.getAcquire(ALL, ring + RingLayout.CONSUMED);
    if (now < consumed || now > published) {
      throw new CorruptRingException(
          "the receiver says it took "
              + now
              + " slots, after "
              + consumed
              + ", when "
              + published
              + " were published");
    }
    consumed = now;
    return tail + reserved + count - consumed < slots;
  }

  /** Whether a message fits into the open slot, and is the only one to go there. */
  private boolean isRoomInside(int length) {
    return reserved == 0 && length <= RingLayout.PACKED_MAX && fitsOpenSlot(length);
  }

  private boolean fitsOpenSlot(int length) {
    return open != NOTHING && RingLayout.inSlotFor(length) <= openRoom;
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
    return line == LineAllocator.NONE ? FULL : line;
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
   * Tells whether the receiver has anything that it could still give back. If not, and there is no
   * room, then waiting for room is in vain: it is all reserved on this side. The open slot is not
   * given back.
   *
   * @return whether the receiver has
   */
  public boolean isAnythingOut() {
    takeReleases();
    hasSlots(0); // for what the receiver has taken by now
    return tail - consumed > (open == NOTHING ? 0 : 1) || allocator.isAnythingCommitted();
  }

  /**
   * Gives back what {@link #reserve} took.
   *
   * @param line what it returned
   * @param length what it was given
   */
  public void unreserve(int line, int length) {
    reserved -= slotsToReserve(length);
    if (line >= 0) {
      allocator.release(line);
    }
  }

  /**
   * Puts an inline message into the open slot, or the next ones; it was reserved.
   *
   * @param source holds the message
   * @param offset where in it the message starts
   * @param length its length, not more than was reserved
   * @param reservedLength the length that was reserved, which rides inline
   */
  public void stageInline(MemorySegment source, long offset, int length, int reservedLength) {
    if (length > RingLayout.PACKED_MAX) {
      stageInSlots(source, offset, length);
    } else if (fitsOpenSlot(length)) {
      stageInOpenSlot(source, offset, length);
    } else {
      stageInNewSlot(source, offset, length);
    }
    messagesStaged++;
    reserved -= slotsToReserve(reservedLength);
    reached(RingStep.SENDER_STAGED);
  }

  // The copy always goes first: it fails if the program's memory is gone, and then nothing is
  // staged. What it has left in a slot where other messages go must not be taken for headers.

  private void stageInSlots(MemorySegment source, long offset, int length) {
    int count = RingLayout.slotsFor(length);
    int left = slots - index;
    long place = count > left ? slotsOffset : slot;
    int begin = count > left ? 0 : index;
    noHeader.set(begin + 1, begin + count);
    zeroed = false;
    MemorySegment.copy(source, offset, ALL, ring + place + RingLayout.SLOT_INLINE, length);
    reached(RingStep.SENDER_WRITTEN);
    endOpenSlot();
    if (count > left) {
      note(slot, RingHeader.of(RingHeader.TYPE_PADDING, lap, left));
      noHeader.set(index + 1, slots);
      takeSlots(left);
    }
    note(slot, RingHeader.of(RingHeader.TYPE_INLINE, lap, length));
    takeSlots(count);
  }

  private void stageInOpenSlot(MemorySegment source, long offset, int length) {
    copyBehindHeader(source, offset, open, openRoom, length);
    reached(RingStep.SENDER_WRITTEN);
    note(open, RingHeader.of(RingHeader.TYPE_INLINE, openLap, length));
    goOnInSlot(open, openRoom, openLap, length);
  }

  private void stageInNewSlot(MemorySegment source, long offset, int length) {
    if (!zeroed) {
      zeroSlot();
    }
    copyBehindHeader(source, offset, slot, RingLayout.SLOT, length);
    reached(RingStep.SENDER_WRITTEN);
    endOpenSlot();
    note(slot, RingHeader.of(RingHeader.TYPE_INLINE, lap, length));
    goOnInSlot(slot, RingLayout.SLOT, lap, length);
    takeSlots(1);
  }

  private void copyBehindHeader(
      MemorySegment source, long offset, long place, int room, int length) {
    boolean copied = false;
    try {
      MemorySegment.copy(source, offset, ALL, ring + place + RingLayout.SLOT_INLINE, length);
      copied = true;
    } finally {
      if (!copied) {
        MemorySegment.copy(ZEROS, 0, ALL, ring + place, room);
      }
    }
  }

  private void zeroSlot() {
    MemorySegment.copy(ZEROS, 0, ALL, ring + slot, RingLayout.SLOT);
    zeroed = true;
  }

  private void goOnInSlot(long place, int room, int slotsLap, int length) {
    if (RingLayout.nextInSlot(RingLayout.SLOT - room, length) == 0) {
      open = NOTHING;
    } else {
      int size = RingLayout.inSlotFor(length);
      open = place + size;
      openRoom = room - size;
      openLap = slotsLap;
    }
  }

  private void endOpenSlot() {
    if (open != NOTHING) {
      note(open, RingHeader.of(RingHeader.TYPE_END, openLap, 0));
      open = NOTHING;
    }
  }

  /**
   * Puts the place of a message in lines into the next slot; it was reserved, and its lines are
   * written.
   *
   * @param line its first line
   * @param length its length, not more than was reserved
   */
  public void stageLines(int line, int length) {
    allocator.commit(line);
    INT.set(ALL, ring + slot + RingLayout.SLOT_LENGTH, length);
    INT.set(ALL, ring + slot + RingLayout.SLOT_LINE, line);
    reached(RingStep.SENDER_WRITTEN);
    endOpenSlot();
    note(slot, RingHeader.of(RingHeader.TYPE_LINES, lap, 0));
    takeSlots(1);
    messagesStaged++;
    reserved--;
    reached(RingStep.SENDER_STAGED);
  }

  /** Notes the first header for {@link #publish}; those behind it are stored at once. */
  private void note(long place, int header) {
    if (first == NOTHING) {
      first = place;
      firstHeader = header;
    } else {
      INT.set(ALL, ring + place, header);
    }
  }

  private void takeSlots(int count) {
    tail += count;
    index += count;
    slot += (long) count * RingLayout.SLOT;
    zeroed = false;
    if (index == slots) {
      index = 0;
      slot = slotsOffset;
      lap = RingHeader.lap(tail, layout.slotsShift());
    }
    if (noHeader.get(index)) {
      noHeader.clear(index);
      INT.set(ALL, ring + slot, 0); // the receiver comes there next
    }
  }

  /**
   * Makes all staged messages visible to the receiver.
   *
   * @return whether the receiver is asleep and has to be woken up
   */
  public boolean publish() {
    if (first != NOTHING) {
      INT.setRelease(ALL, ring + first, firstHeader);
      first = NOTHING;
    }
    published = tail;
    messagesPublished = messagesStaged;
    reached(RingStep.SENDER_PUBLISHED);
    boolean asleep = SleepFlag.wake(ring, RingLayout.RECEIVER_ASLEEP, fences);
    if (asleep) {
      reached(RingStep.SENDER_WAKES);
    }
    if (open != NOTHING && !zeroed && isNextSlotSoon() && tail - consumed < slots) {
      zeroSlot(); // now, and not when a message waits for its lines to leave the receiver's cache
    }
    return asleep;
  }

  private boolean isNextSlotSoon() {
    return openRoom <= RingLayout.SLOT / 2;
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
    return messagesPublished;
  }

  /** Takes back {@link #armSleep}. */
  public void disarmSleep() {
    SleepFlag.disarm(ring, RingLayout.SENDER_ASLEEP);
  }
}
