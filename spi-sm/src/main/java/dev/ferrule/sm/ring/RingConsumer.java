// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.sm.os.Membarrier;
import dev.ferrule.sm.os.RawMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The receiving side of a ring. {@link #next} looks for a message and says what and where it is;
 * {@link #advance} takes it out of its slot; {@link #acknowledge} tells the sender about the slots,
 * {@link #release} about payload lines.
 *
 * <p>Everything that the sender wrote is read once and checked before it is used. Not for several
 * threads at once.
 */
public class RingConsumer {

  private final RingLayout layout;
  private final long ring; // the address
  private final long buffer; // the address
  private final MemorySegment ringView;
  private final MemorySegment bufferView;
  private final boolean fences;
  private final int slots;
  private final int inlineMax;
  private final long slotsOffset;
  private final int releaseMask;

  private long head; // position of the slot to look at
  private int index; // its index,
  private long slot; // its offset in the ring,
  private int lap; // and the lap it is in
  private int inSlot; // where in it the next header is
  private long place; // where in the ring that is
  private long acknowledged; // what the sender was told
  private long released; // how many release entries were written

  private int sleeps; // by which number this side last said that it sleeps

  private long messageOffset;
  private int messageLength;
  private int messageLine;
  private int messageSlots;
  private int
      messageNext; // where in its slot the header behind it is; 0 if that is the next slot's

  /**
   * Starts to receive on a ring that is new.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param fences whether a sleeping sender relies on a fence here, because the two sides do not
   *     share membarrier(2)
   */
  public RingConsumer(RingLayout layout, MemorySegment ring, MemorySegment buffer, boolean fences) {
    this.layout = layout;
    this.ring = RawMemory.address(ring);
    this.buffer = RawMemory.address(buffer);
    this.ringView = ring.asReadOnly(); // what the program gets to see
    this.bufferView = buffer.asReadOnly();
    this.fences = fences;
    this.slots = layout.slots();
    this.inlineMax = Math.min(layout.inlineMax(), layout.maxMessage());
    this.slotsOffset = layout.slotsOffset();
    this.releaseMask = layout.releases() - 1;
    this.slot = slotsOffset;
    this.place = slotsOffset;
    this.lap = RingHeader.lap(0, layout.slotsShift());
  }

  /**
   * Called when the receiver has got to a step. Does nothing, and costs nothing; tests stop here.
   *
   * @param step where the receiver is
   */
  protected void reached(RingStep step) {}

  /**
   * Looks for the next message. If there is one, the {@code message} methods describe it until the
   * next call.
   *
   * @return whether there is one
   * @throws CorruptRingException if what is there cannot be right
   */
  public boolean next() {
    while (true) {
      int header = (int) INT.getAcquire(ALL, ring + place);
      if (RingHeader.lap(header) != lap) {
        checkOld(header);
        return false;
      }
      reached(RingStep.RECEIVER_FOUND);
      int type = RingHeader.type(header);
      if (type == RingHeader.TYPE_INLINE) {
        nextInline(RingHeader.length(header));
        return true;
      }
      if (header == 0) {
        return false; // nothing, in one of the laps that go by the number 0
      }
      if (inSlot != 0) {
        endSlot(header);
        continue;
      }
      switch (type) {
        case RingHeader.TYPE_LINES -> {
          nextInLines();
          return true;
        }
        case RingHeader.TYPE_SHARED -> {
          nextShared(header);
          return true;
        }
        case RingHeader.TYPE_PADDING -> skipPadding(RingHeader.length(header));
        default -> throw new CorruptRingException("a header of the unknown type " + type);
      }
    }
  }

  private void nextInline(int length) {
    int count = inSlot == 0 ? RingLayout.slotsFor(length) : 1;
    if (length > inlineMax
        || count > slots - index
        || (inSlot != 0 && RingLayout.inSlotFor(length) > RingLayout.SLOT - inSlot)) {
      throw new CorruptRingException(
          "an inline message of "
              + length
              + " bytes in slot "
              + index
              + " of "
              + slots
              + ", after "
              + inSlot
              + " bytes");
    }
    found(place + RingLayout.SLOT_INLINE, length, RingProducer.INLINE, count);
    messageNext = RingLayout.nextInSlot(inSlot, length);
  }

  private void found(long offset, int length, int line, int count) {
    messageOffset = offset;
    messageLength = length;
    messageLine = line;
    messageSlots = count;
    messageNext = 0;
  }

  /** Behind other messages there can only be the end of their slot. */
  private void endSlot(int header) {
    if (RingHeader.type(header) != RingHeader.TYPE_END || RingHeader.length(header) != 0) {
      throw new CorruptRingException(
          "a header of the type "
              + RingHeader.type(header)
              + " behind other messages in slot "
              + index);
    }
    take(1);
  }

  private void skipPadding(int count) {
    // none is longer than what the longest inline message may leave out
    if (count != slots - index || count >= layout.inlineSlotsMax()) {
      throw new CorruptRingException(
          "padding of " + count + " slots in slot " + index + " of " + slots);
    }
    take(count);
  }

  private void nextInLines() {
    int length = (int) INT.get(ALL, ring + slot + RingLayout.SLOT_LENGTH);
    int line = (int) INT.get(ALL, ring + slot + RingLayout.SLOT_LINE);
    checkLength(length);
    checkLines(line, Math.max(1, RingLayout.linesFor(length)), length);
    found((long) line * RingLayout.LINE, length, line, 1);
  }

  /** A message of one of several threads: its length lies before it, and not in the slot. */
  private void nextShared(int header) {
    long word =
        SharedWord.ofHalves(header, (int) INT.get(ALL, ring + slot + RingLayout.SLOT_SHARED_LINE));
    if (!SharedWord.isOf(word, SharedWord.lap(head, layout.slotsShift()))) {
      throw new CorruptRingException(
          "a slot with 0x" + Long.toHexString(word) + " after " + head + " slots");
    }
    int line = SharedWord.line(word);
    checkLines(line, 1, 0); // before the length is read from it
    int length = (int) INT.get(ALL, buffer + (long) line * RingLayout.LINE);
    checkLength(length);
    checkLines(line, RingLayout.sharedLinesFor(length), length);
    found((long) line * RingLayout.LINE + RingLayout.SHARED_PREFIX, length, line, 1);
  }

  private void checkLength(int length) {
    if (length < 0 || length > layout.maxMessage()) {
      throw new CorruptRingException(
          "a message of "
              + (length & 0xffffffffL)
              + " bytes, where "
              + layout.maxMessage()
              + " are the most");
    }
  }

  private void checkLines(int line, int count, int length) {
    if (line < 0 || line > layout.lines() - count) {
      throw new CorruptRingException(
          "a message of " + length + " bytes at line " + line + " of " + layout.lines());
    }
  }

  /** What is not of this lap has to be of the one before, or 0; the latter within a slot. */
  private void checkOld(int header) {
    if (header != 0 && (inSlot != 0 || RingHeader.lap(header) != (lap - 1 & RingHeader.LAPS - 1))) {
      throw new CorruptRingException(
          "a header of lap " + RingHeader.lap(header) + " in lap " + lap);
    }
  }

  /**
   * Returns the memory that the message lies in.
   *
   * @return the ring or the buffer
   */
  public MemorySegment messageMemory() {
    return messageLine == RingProducer.INLINE ? ringView : bufferView;
  }

  /**
   * Returns where the message starts.
   *
   * @return the address
   */
  public long messageAddress() {
    return (messageLine == RingProducer.INLINE ? ring : buffer) + messageOffset;
  }

  /**
   * Returns where in {@link #messageMemory} the message starts.
   *
   * @return the offset in bytes
   */
  public long messageOffset() {
    return messageOffset;
  }

  /**
   * Returns the message's length.
   *
   * @return the length in bytes
   */
  public int messageLength() {
    return messageLength;
  }

  /**
   * Returns the message's first payload line.
   *
   * @return the line, to be given to {@link #release}; or {@link RingProducer#INLINE}
   */
  public int messageLine() {
    return messageLine;
  }

  /**
   * Tells one message from the next: it changes by {@link #advance}.
   *
   * @return where in the ring this end looks for messages, in bytes
   */
  public long position() {
    return place;
  }

  /**
   * Takes the message that {@link #next} found out of its slot. Its payload lines, if any, stay
   * taken.
   */
  public void advance() {
    if (messageNext == 0) {
      take(messageSlots);
    } else {
      inSlot = messageNext;
      place = slot + inSlot;
      reached(RingStep.RECEIVER_TAKEN);
    }
  }

  private void take(int count) {
    head += count;
    index += count;
    slot += (long) count * RingLayout.SLOT;
    if (index == slots) {
      index = 0;
      slot = slotsOffset;
      lap = RingHeader.lap(head, layout.slotsShift());
    }
    inSlot = 0;
    place = slot;
    reached(RingStep.RECEIVER_TAKEN);
  }

  /**
   * Tells the sender which slots are free again.
   *
   * @return whether the sender is asleep and has to be woken up
   */
  public boolean acknowledge() {
    acknowledged = head;
    LONG.setRelease(ALL, ring + RingLayout.CONSUMED, head);
    reached(RingStep.RECEIVER_ACKNOWLEDGED);
    return wake();
  }

  private boolean wake() {
    boolean asleep = SleepFlag.wake(ring, RingLayout.SENDER_ASLEEP, fences);
    if (asleep) {
      reached(RingStep.RECEIVER_WAKES);
    }
    return asleep;
  }

  /**
   * Returns how many slots were taken since the last {@link #acknowledge}.
   *
   * @return the number of slots
   */
  public int unacknowledged() {
    return (int) (head - acknowledged);
  }

  /**
   * Gives the payload lines of a message back to the sender.
   *
   * @param line the message's first line
   * @return whether the sender is asleep and has to be woken up
   */
  public boolean release(int line) {
    int entry = ReleaseEntry.of(line, ReleaseEntry.lap(released, releaseMask));
    INT.setRelease(ALL, ring + RingLayout.RELEASES + (released & releaseMask) * 4, entry);
    released++;
    reached(RingStep.RECEIVER_RELEASED);
    return wake();
  }

  /**
   * Tells whether it is worth while to call {@link #next}, which then finds a message, takes
   * padding out, or throws. May be called while another thread receives, and is but a hint then.
   *
   * @return false if nothing is there, unless it has come just now
   */
  public boolean mayHaveNext() {
    int header = (int) INT.getOpaque(ALL, ring + place);
    return header != 0 && RingHeader.lap(header) == lap;
  }

  /**
   * Says the same as {@link #armSleep}, but without the barrier, of which one for many rings is
   * enough.
   */
  public void armSleepWithoutBarrier() {
    INT.setOpaque(ALL, ring + RingLayout.RECEIVER_ASLEEP, nextSleep());
  }

  /** The barrier that has to follow {@link #armSleepWithoutBarrier}. */
  public static void barrierBeforeSleep() {
    VarHandle.fullFence(); // for those who are not registered
    if (Membarrier.REGISTERED) {
      Membarrier.global();
    }
  }

  /**
   * Says that this side goes to sleep until there is a message; a last look has to follow before it
   * does.
   */
  public void armSleep() {
    SleepFlag.arm(ring, RingLayout.RECEIVER_ASLEEP, nextSleep(), fences);
  }

  /** Another number each time, so that the answer to one does not count for the next; not 0. */
  private int nextSleep() {
    sleeps = sleeps == Integer.MAX_VALUE ? 1 : sleeps + 1;
    return sleeps;
  }

  /**
   * Tells whether {@link #armSleep} is still in force: the other side has not answered it yet.
   *
   * @return whether it is
   */
  public boolean isSleepArmed() {
    return SleepFlag.isArmed(ring, RingLayout.RECEIVER_ASLEEP);
  }

  /** Takes back {@link #armSleep}. */
  public void disarmSleep() {
    SleepFlag.disarm(ring, RingLayout.RECEIVER_ASLEEP);
  }

  /**
   * Tells whether the sender has closed the connection; its last message was published before.
   *
   * @return whether it has
   */
  public boolean isClosedBySender() {
    return closeReason() != 0;
  }

  /**
   * Returns why the sender has closed the connection.
   *
   * @return what it has given to {@link SendingEnd#markClosed}; 0 if it has not closed it
   */
  public int closeReason() {
    return (int) INT.getAcquire(ALL, ring + RingLayout.SENDER_CLOSED);
  }
}
