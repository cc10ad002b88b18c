// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import java.lang.foreign.MemorySegment;

/**
 * The receiving side of a ring. {@link #next} looks for a message and says what and where it is;
 * {@link #advance} takes it out of its slot; {@link #acknowledge} tells the sender about the slots,
 * {@link #release} about payload lines.
 *
 * <p>Everything that the sender wrote is read once and checked before it is used. Not for several
 * threads at once.
 */
public final class RingConsumer {

  private final RingLayout layout;
  private final MemorySegment ring;
  private final MemorySegment buffer;
  private final boolean fences;
  private final int slotMask;
  private final long slotsOffset;
  private final int releaseMask;

  private long head; // position of the next slot to look at
  private long acknowledged; // what the sender was told
  private long released; // how many release entries were written

  private MemorySegment messageMemory;
  private long messageOffset;
  private int messageLength;
  private int messageLine;

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
    this.ring = ring;
    this.buffer = buffer;
    this.fences = fences;
    this.slotMask = layout.slots() - 1;
    this.slotsOffset = layout.slotsOffset();
    this.releaseMask = layout.releases() - 1;
    this.messageMemory = ring;
  }

  /**
   * Looks for the next message. If there is one, the {@code message} methods describe it until the
   * next call.
   *
   * @return whether there is one
   * @throws CorruptRingException if what is there cannot be right
   */
  public boolean next() {
    long slot = slotsOffset + (head & slotMask) * RingLayout.SLOT;
    int header = (int) INT.getAcquire(ring, slot);
    int lap = RingHeader.lap(head, layout.slotsShift());
    if (RingHeader.lap(header) != lap) {
      checkOld(header, lap);
      return false;
    }
    if (RingHeader.type(header) == RingHeader.TYPE_INLINE) {
      int length = RingHeader.length(header);
      if (length > RingLayout.INLINE_MAX || length > layout.maxMessage()) {
        throw new CorruptRingException("an inline message of " + length + " bytes");
      }
      messageMemory = ring;
      messageOffset = slot + RingLayout.SLOT_INLINE;
      messageLength = length;
      messageLine = RingProducer.INLINE;
      return true;
    }
    return nextInLines(header, slot);
  }

  private boolean nextInLines(int header, long slot) {
    if (RingHeader.type(header) != RingHeader.TYPE_LINES) {
      throw new CorruptRingException("a header of the unknown type " + RingHeader.type(header));
    }
    int length = (int) INT.get(ring, slot + RingLayout.SLOT_LENGTH);
    int line = (int) INT.get(ring, slot + RingLayout.SLOT_LINE);
    if (length < 0 || length > layout.maxMessage()) {
      throw new CorruptRingException(
          "a message of "
              + (length & 0xffffffffL)
              + " bytes, where "
              + layout.maxMessage()
              + " are the most");
    }
    if (line < 0 || line > layout.lines() - Math.max(1, RingLayout.linesFor(length))) {
      throw new CorruptRingException(
          "a message of " + length + " bytes at line " + line + " of " + layout.lines());
    }
    messageMemory = buffer;
    messageOffset = (long) line * RingLayout.LINE;
    messageLength = length;
    messageLine = line;
    return true;
  }

  /** What is not of this lap has to be of the one before. */
  private static void checkOld(int header, int lap) {
    if (RingHeader.lap(header) != (lap - 1 & RingHeader.LAPS - 1)) {
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
    return messageMemory;
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
   * Takes the message that {@link #next} found out of its slot. Its payload lines, if any, stay
   * taken.
   */
  public void advance() {
    head++;
  }

  /**
   * Tells the sender which slots are free again.
   *
   * @return whether the sender is asleep and has to be woken up
   */
  public boolean acknowledge() {
    acknowledged = head;
    LONG.setRelease(ring, RingLayout.CONSUMED, head);
    return SleepFlag.wake(ring, RingLayout.SENDER_ASLEEP, fences);
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
    INT.setRelease(ring, RingLayout.RELEASES + (released & releaseMask) * 4, entry);
    released++;
    return SleepFlag.wake(ring, RingLayout.SENDER_ASLEEP, fences);
  }

  /**
   * Returns how many messages were taken, ever.
   *
   * @return the number of messages
   */
  public long position() {
    return head;
  }

  /**
   * Says that this side goes to sleep until there is a message; a last look has to follow before it
   * does.
   */
  public void armSleep() {
    SleepFlag.arm(ring, RingLayout.RECEIVER_ASLEEP, fences);
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
    return (int) INT.getAcquire(ring, RingLayout.SENDER_CLOSED) != 0;
  }
}
