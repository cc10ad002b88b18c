// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.spi.AbstractSender;
import dev.ferrule.spi.LineAllocator;
import java.lang.foreign.MemorySegment;

/**
 * The sending side of a ring. A message takes three steps: {@link #reserve} takes a slot, and
 * payload lines if the message does not ride inline; one of the {@code stage} methods puts the
 * message into the next slot, or its place; {@link #publish} stores the headers of all that is
 * staged, which makes them visible to the receiver.
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

  private final RingLayout layout;
  private final LineAllocator allocator;
  private final int slots;
  private final int inlineMax;
  private final long slotsOffset;
  private final int releaseMask;

  // what is staged and not published: the first slot and header, and all those behind it
  private long firstSlot;
  private int firstHeader;
  private final long[] moreSlots;
  private final int[] moreHeaders;
  private int more;

  private long tail; // position of the next slot to stage
  private int index; // its index,
  private long slot; // its offset in the ring,
  private int lap; // and the lap it is in
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
    this.moreSlots = new long[slots];
    this.moreHeaders = new int[slots];
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
    if (tail + reserved + count - consumed > slots && !hasSlots(count)) {
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
    long now = (long) LONG.getAcquire(ring, RingLayout.CONSUMED);
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
    return tail + reserved + count - consumed <= slots;
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
      int entry = (int) INT.getAcquire(ring, RingLayout.RELEASES + (released & releaseMask) * 4);
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
   * room, then waiting for room is in vain: it is all reserved on this side.
   *
   * @return whether the receiver has
   */
  public boolean isAnythingOut() {
    takeReleases();
    hasSlots(0); // for what the receiver has taken by now
    return tail != consumed || allocator.isAnythingCommitted();
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
   * Puts an inline message into the next slots; it was reserved.
   *
   * @param source holds the message
   * @param offset where in it the message starts
   * @param length its length, not more than was reserved
   * @param reservedLength the length that was reserved, which rides inline
   */
  public void stageInline(MemorySegment source, long offset, int length, int reservedLength) {
    int count = RingLayout.slotsFor(length);
    int left = slots - index;
    // the copy goes first: it fails if the program's memory is gone, and then nothing is staged
    long first = count > left ? slotsOffset : slot;
    MemorySegment.copy(source, offset, ring, first + RingLayout.SLOT_INLINE, length);
    reached(RingStep.SENDER_WRITTEN);
    if (count > left) {
      stage(RingHeader.TYPE_PADDING, left, left);
    }
    stage(RingHeader.TYPE_INLINE, length, count);
    messagesStaged++;
    reserved -= slotsToReserve(reservedLength);
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
    INT.set(ring, slot + RingLayout.SLOT_LENGTH, length);
    INT.set(ring, slot + RingLayout.SLOT_LINE, line);
    reached(RingStep.SENDER_WRITTEN);
    stage(RingHeader.TYPE_LINES, 0, 1);
    messagesStaged++;
    reserved--;
  }

  private void stage(int type, int length, int count) {
    int header = RingHeader.of(type, lap, length);
    if (tail == published) {
      firstSlot = slot;
      firstHeader = header;
    } else {
      moreSlots[more] = slot;
      moreHeaders[more] = header;
      more++;
    }
    tail += count;
    index += count;
    slot += (long) count * RingLayout.SLOT;
    if (index == slots) {
      index = 0;
      slot = slotsOffset;
      lap = RingHeader.lap(tail, layout.slotsShift());
    }
    reached(RingStep.SENDER_STAGED);
  }

  /**
   * Makes all staged messages visible to the receiver.
   *
   * @return whether the receiver is asleep and has to be woken up
   */
  public boolean publish() {
    // the first header goes last: the receiver, which looks at it, finds the others there and does
    // not chase each line as it is written
    while (more > 0) {
      more--;
      INT.setRelease(ring, moreSlots[more], moreHeaders[more]);
      reached(RingStep.SENDER_PARTLY_PUBLISHED);
    }
    if (tail != published) {
      INT.setRelease(ring, firstSlot, firstHeader);
    }
    published = tail;
    messagesPublished = messagesStaged;
    reached(RingStep.SENDER_PUBLISHED);
    boolean asleep = SleepFlag.wake(ring, RingLayout.RECEIVER_ASLEEP, fences);
    if (asleep) {
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
    return messagesPublished;
  }

  /** Takes back {@link #armSleep}. */
  public void disarmSleep() {
    SleepFlag.disarm(ring, RingLayout.SENDER_ASLEEP);
  }
}
