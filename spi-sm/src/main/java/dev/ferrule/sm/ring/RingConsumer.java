// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.posix.RawMemory;
import java.lang.foreign.MemorySegment;

/**
 * The receiving side of a ring. {@link #next} finds and describes the next message; {@link
 * #advance} consumes its record; {@link #acknowledge} gives the room of consumed records back to
 * the sender, {@link #release} that of payload lines. The superclass reads the records; this class
 * gives room back and handles wake-ups.
 *
 * <p>Memory ordering: {@link #next} loads a header with acquire semantics, which pairs with the
 * release store of {@link RingProducer#publish}. {@link #acknowledge}, {@link #endHold} and {@link
 * #release} store with release semantics, so all earlier reads of a message precede the reuse of
 * its room.
 *
 * <p>Not thread-safe.
 */
public final class RingConsumer extends RecordReader {

  private static final long NO_POSITION = -1;

  private final boolean fences;
  private final int releaseMask;

  private long acknowledged; // the consumed count last published to the sender
  private long released; // number of release entries written

  // the record whose payload the program holds, in place
  private long held = NO_POSITION; // its position
  private int heldSize;
  private boolean heldPublished; // whether the held record was published to the sender

  private long acknowledgments;

  /**
   * Starts receiving on a new ring.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param fences whether a sleeping sender relies on a fence here, because the two sides do not
   *     share membarrier(2)
   */
  public RingConsumer(RingLayout layout, MemorySegment ring, MemorySegment buffer, boolean fences) {
    super(layout, ring, buffer);
    RingTestHook.reached(RingTestPoint.OPENING_CONSUMER);
    this.fences = fences;
    this.releaseMask = layout.releases() - 1;
  }

  /**
   * Holds the inline message found by {@link #next}: its place is not given back to the sender
   * until {@link #endHold}. At most one is held at a time.
   *
   * @return whether it is held; false if another one is
   */
  public boolean hold() {
    if (held != NO_POSITION) {
      return false;
    }
    held = position;
    heldSize = messageSize();
    heldPublished = false;
    return true;
  }

  /**
   * Ends the hold, and gives the room of the record back to the sender. If later records have been
   * acknowledged meanwhile, the sender may be waiting for the held one alone.
   *
   * @return whether the sender sleeps and must be woken
   */
  public boolean endHold() {
    held = NO_POSITION;
    boolean cleared = heldPublished;
    if (cleared) {
      heldPublished = false;
      LONG.setRelease(ALL, ring + RingLayout.HELD, HeldRecord.NONE);
    }
    return (publishConsumed() || cleared) && wake();
  }

  /**
   * Gives the room of consumed records back to the sender, if there is any. If one of them is held,
   * and later ones were consumed, the sender is notified to skip the held one.
   *
   * @return whether the sender sleeps and must be woken
   */
  public boolean acknowledge() {
    return publishConsumed() && wake();
  }

  /** Returns whether there was anything to publish. */
  private boolean publishConsumed() {
    long now = position;
    if (held != NO_POSITION && !heldPublished) {
      if (now == held + heldSize) {
        now = held;
      } else {
        LONG.setOpaque(ALL, ring + RingLayout.HELD, HeldRecord.of(held & mask, heldSize));
        heldPublished = true;
      }
    }
    if (now == acknowledged) {
      return false;
    }
    acknowledged = now;
    acknowledgments++;
    LONG.setRelease(ALL, RawMemory.word(ring + RingLayout.CONSUMED), now);
    RingTestHook.reached(RingTestPoint.RECEIVER_ACKNOWLEDGED);
    return true;
  }

  /** {@return how often the consumed count was published to the sender} */
  public long acknowledgments() {
    return acknowledgments;
  }

  private boolean wake() {
    boolean asleep = SleepFlag.wake(ring, RingLayout.SENDER_ASLEEP, fences) != 0;
    if (asleep) {
      RingTestHook.reached(RingTestPoint.RECEIVER_WAKES);
    }
    return asleep;
  }

  /**
   * Gives the payload lines of a message back to the sender.
   *
   * @param line the message's first line
   * @return whether the sender sleeps and must be woken
   */
  public boolean release(int line) {
    int entry = ReleaseEntry.of(line, ReleaseEntry.lap(released, releaseMask));
    INT.setRelease(ALL, ring + RingLayout.RELEASES + (released & releaseMask) * 4, entry);
    released++;
    RingTestHook.reached(RingTestPoint.RECEIVER_RELEASED);
    return wake();
  }

  /** {@return a bit for each lane in which the peer has begun to send, in the first ring} */
  public long lanes() {
    return (long) LONG.getAcquire(ALL, ring + RingLayout.SENDER_LANES);
  }

  /** {@return whether the sender's mark of its last message is not 0, possibly invalid} */
  public boolean mayBeEnded() {
    return endMark() != 0;
  }

  private int endMark() {
    return (int) INT.getAcquire(ALL, ring + RingLayout.SENDER_ENDED);
  }

  /**
   * {@return whether the sender has published its last message, in the first ring and all lanes}
   *
   * @throws CorruptRingException if the sender has stored an invalid value
   */
  public boolean isEnded() {
    int value = endMark();
    if ((value & ~1) != 0) {
      throw new CorruptRingException(
          "the sender's mark of its last message is 0x"
              + Integer.toHexString(value)
              + ", neither 0 nor 1");
    }
    return value == 1;
  }

  /**
   * {@return the sender's reason for closing the connection, as passed to {@link
   * RingProducer#markClosed} after its last message; 0 if it has not closed it}
   */
  public int closeReason() {
    return (int) INT.getAcquire(ALL, ring + RingLayout.SENDER_CLOSED);
  }
}
