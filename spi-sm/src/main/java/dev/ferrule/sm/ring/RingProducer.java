// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The sending side of a ring. A message takes three steps: {@link #reserve} takes a slot, and
 * payload lines if the message does not ride inline; one of the {@code stage} methods puts the
 * message into the next slot, or its place; {@link #publish} stores the headers of all that is
 * staged, which makes them visible to the receiver.
 *
 * <p>Not for several threads at once.
 */
public final class RingProducer {

  /** What {@link #reserve} returns when there is no room. */
  public static final int FULL = -2;

  /** What {@link #reserve} returns for a message that rides inline: no line. */
  public static final int INLINE = -1;

  // The lines used first. As long as little is in flight they all stay in the second-level cache.
  private static final int WARM_LINES = 256 * 1024 / RingLayout.LINE;

  private final RingLayout layout;
  private final MemorySegment ring;
  private final MemorySegment buffer;
  private final boolean fences;
  private final LineAllocator allocator;
  private final int[] stagedHeaders;
  private final int slotMask;
  private final long slotsOffset;
  private final int releaseMask;

  private long tail; // position of the next slot to stage
  private long published; // positions before this one are visible to the receiver
  private int reserved; // slots that were reserved and not staged
  private long consumed; // what the receiver last said it has taken; never more than that
  private long released; // how many release entries were taken

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
    this.layout = layout;
    this.ring = ring;
    this.buffer = buffer;
    this.fences = fences;
    this.allocator = new LineAllocator(layout.lines());
    this.stagedHeaders = new int[layout.slots()];
    this.slotMask = layout.slots() - 1;
    this.slotsOffset = layout.slotsOffset();
    this.releaseMask = layout.releases() - 1;
  }

  /**
   * Takes room for a message, which is to be staged or given back by {@link #unreserve}.
   *
   * @param length the message's length, 0 to the layout's longest
   * @return the message's first payload line; or INLINE, or FULL
   * @throws CorruptRingException if the receiver's side of the ring cannot be right
   */
  public int reserve(int length) {
    if (tail + reserved - consumed > slotMask && !hasSlot()) {
      return FULL;
    }
    if (length <= RingLayout.INLINE_MAX) {
      reserved++;
      return INLINE;
    }
    int line = reserveLines(RingLayout.linesFor(length));
    if (line >= 0) {
      reserved++;
    }
    return line;
  }

  private boolean hasSlot() {
    long now = (long) LONG.getAcquire(ring, RingLayout.CONSUMED);
    if (now < consumed || now > published) {
      throw new CorruptRingException(
          "the receiver says it took "
              + now
              + " messages, after "
              + consumed
              + ", when "
              + published
              + " were sent");
    }
    consumed = now;
    return tail + reserved - consumed <= slotMask;
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
   * Gives back what {@link #reserve} took.
   *
   * @param line what it returned
   */
  public void unreserve(int line) {
    reserved--;
    if (line >= 0) {
      allocator.release(line);
    }
  }

  /**
   * Puts an inline message into the next slot; it was reserved.
   *
   * @param source holds the message
   * @param offset where in it the message starts
   * @param length its length, 0 to {@link RingLayout#INLINE_MAX}
   */
  public void stageInline(MemorySegment source, long offset, int length) {
    int index = (int) tail & slotMask;
    MemorySegment.copy(
        source,
        offset,
        ring,
        slotsOffset + (long) index * RingLayout.SLOT + RingLayout.SLOT_INLINE,
        length);
    stage(
        index,
        RingHeader.of(RingHeader.TYPE_INLINE, RingHeader.lap(tail, layout.slotsShift()), length));
  }

  /**
   * Puts the place of a message in lines into the next slot; it was reserved, and its lines are
   * written.
   *
   * @param line its first line
   * @param length its length, not more than was reserved
   */
  public void stageLines(int line, int length) {
    int index = (int) tail & slotMask;
    long slot = slotsOffset + (long) index * RingLayout.SLOT;
    allocator.commit(line);
    INT.set(ring, slot + RingLayout.SLOT_LENGTH, length);
    INT.set(ring, slot + RingLayout.SLOT_LINE, line);
    stage(
        index, RingHeader.of(RingHeader.TYPE_LINES, RingHeader.lap(tail, layout.slotsShift()), 0));
  }

  private void stage(int index, int header) {
    stagedHeaders[index] = header;
    reserved--;
    tail++;
  }

  /**
   * Makes all staged messages visible to the receiver.
   *
   * @return whether the receiver is asleep and has to be woken up
   */
  public boolean publish() {
    // the first header goes last: the receiver, which looks at it, finds the others there and does
    // not chase each line as it is written
    for (long position = tail - 1; position >= published; position--) {
      int index = (int) position & slotMask;
      INT.setRelease(ring, slotsOffset + (long) index * RingLayout.SLOT, stagedHeaders[index]);
    }
    published = tail;
    return SleepFlag.wake(ring, RingLayout.RECEIVER_ASLEEP, fences);
  }

  /**
   * Returns how many messages were staged and not published.
   *
   * @return the number of messages
   */
  public int staged() {
    return (int) (tail - published);
  }

  /**
   * Returns how many messages were staged, ever.
   *
   * @return the number of messages
   */
  public long position() {
    return tail;
  }

  /**
   * Returns how many messages were published, ever.
   *
   * @return the number of messages
   */
  public long published() {
    return published;
  }

  /**
   * Returns the payload lines.
   *
   * @return the memory in which a reserved line lies at its number times {@link RingLayout#LINE}
   */
  public MemorySegment buffer() {
    return buffer;
  }

  /**
   * Says that this side goes to sleep until there is room; a last look has to follow before it
   * does.
   */
  public void armSleep() {
    SleepFlag.arm(ring, RingLayout.SENDER_ASLEEP, fences);
  }

  /** Takes back {@link #armSleep}. */
  public void disarmSleep() {
    SleepFlag.disarm(ring, RingLayout.SENDER_ASLEEP);
  }

  /** Tells the receiver that the last message was published. */
  public void markClosed() {
    INT.setRelease(ring, RingLayout.SENDER_CLOSED, 1);
    VarHandle.fullFence();
  }
}
