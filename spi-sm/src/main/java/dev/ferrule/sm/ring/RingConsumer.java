// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.HEADER;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.MessageHandler;
import dev.ferrule.sm.os.Futex;
import dev.ferrule.sm.os.Membarrier;
import dev.ferrule.sm.os.RawMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The receiving side of a ring. {@link #next} looks for a message and says what and where it is;
 * {@link #advance} consumes its record; {@link #acknowledge} gives the room of consumed records
 * back to the sender, {@link #release} that of payload lines. {@link #pollInline} does the first
 * two for many inline messages.
 *
 * <p>Everything that the sender wrote is read once and checked before it is used. Not for several
 * threads at once.
 */
public class RingConsumer {

  private static final long NOWHERE = -1;
  private static final int MESSAGES_WITHOUT_SLEEP = 256;
  private static final int MAX_SLEEP = Integer.MAX_VALUE - 3;

  private final RingLayout layout;
  private final long ring; // the address
  private final long buffer; // the address
  private final MemorySegment ringView;
  private final MemorySegment bufferView;
  private final boolean fences;
  private final long recordsOffset;
  private final long records; // the address
  private final int capacity;
  private final long mask;
  private final int inlineMax;
  private final int releaseMask;
  private final StreamBackoff backoff = new StreamBackoff();

  private long position; // of the next record
  private long acknowledged; // what the sender was told that was consumed
  private long released; // how many release entries were written

  // the record whose payload the program holds, in place
  private long held = NOWHERE; // its position
  private int heldSize;
  private boolean heldTold; // whether the sender knows that it is held

  private final Futex flag; // by which this side says that it sleeps
  private int sleeps; // the number by which it last said so
  private int armed; // the same by armSleep, with what it sleeps on
  private boolean reliesOnFences; // of the sender
  private boolean isSure; // that the sender notices the last armSleep
  private long messagesBeforeSleep;
  private volatile boolean stopped;

  private long messageOffset;
  private int messageLength;
  private int messageLine;
  private int messageSize; // of its record
  private long lastHeader; // that pollInline has read
  private long usualHeader = RecordHeader.inline(0); // of the last inline message

  private long messages;
  private long bytes;
  private long acknowledgements;

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
    this.recordsOffset = layout.recordsOffset();
    this.records = this.ring + recordsOffset;
    this.capacity = layout.capacity();
    this.mask = capacity - 1;
    this.inlineMax = Math.min(layout.inlineMax(), layout.maxMessage());
    this.releaseMask = layout.releases() - 1;
    this.flag = new Futex(this.ring + RingLayout.RECEIVER_ASLEEP);
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
   * @throws CorruptRingException if what is there is not valid
   */
  public boolean next() {
    long skipped = 0;
    while (true) {
      long offset = position & mask;
      long header = (long) LONG.getAcquire(ALL, records + offset);
      switch (RecordHeader.type(header)) {
        case RecordHeader.TYPE_INLINE -> {
          reached(RingStep.RECEIVER_FOUND);
          nextInline(offset, RecordHeader.length(header));
          return true;
        }
        case RecordHeader.TYPE_LINES -> {
          reached(RingStep.RECEIVER_FOUND);
          nextInLines(RecordHeader.line(header), RecordHeader.linesLength(header));
          return true;
        }
        case RecordHeader.TYPE_SHARED -> {
          if (nextShared(header)) {
            reached(RingStep.RECEIVER_FOUND);
            return true;
          }
          return false;
        }
        case RecordHeader.TYPE_PADDING -> {
          skipped += skip(offset, RecordHeader.length(header));
          if (skipped > capacity) {
            throw new CorruptRingException("nothing but padding in " + capacity + " bytes");
          }
        }
        default -> {
          if (header != 0) {
            throw new CorruptRingException("a record's header is 0x" + Long.toHexString(header));
          }
          backoff.drained(position, messages);
          return false;
        }
      }
    }
  }

  private void nextInline(long offset, long length) {
    if (!isInline(offset, length)) {
      throw invalidInline(offset, length);
    }
    found(offset + HEADER, (int) length, RingProducer.INLINE, RingLayout.recordSize((int) length));
  }

  /** Whether the record of an inline message may have such a length at an offset. */
  private boolean isInline(long offset, long length) {
    return length <= inlineMax && offset + HEADER + length <= capacity;
  }

  private CorruptRingException invalidInline(long offset, long length) {
    return new CorruptRingException(
        "an inline message of "
            + length
            + " bytes at "
            + offset
            + " of "
            + capacity
            + ", where "
            + inlineMax
            + " are the most");
  }

  private void found(long offset, int length, int line, int size) {
    messageOffset = offset;
    messageLength = length;
    messageLine = line;
    messageSize = size;
  }

  private long skip(long offset, long size) {
    if (size < HEADER || size % HEADER != 0 || size > capacity - offset) {
      throw new CorruptRingException(
          "padding of " + size + " bytes at " + offset + " of " + capacity);
    }
    position += size;
    reached(RingStep.RECEIVER_TAKEN);
    return size;
  }

  private void nextInLines(int line, int length) {
    checkLength(length);
    checkLines(line, Math.max(1, RingLayout.linesFor(length)), length);
    found((long) line * RingLayout.LINE, length, line, HEADER);
  }

  /**
   * A message of one of several threads: its length lies before it, and not in the header. There is
   * none yet if the header is that of the lap before.
   */
  private boolean nextShared(long word) {
    int shift = layout.ringShift();
    if (position >= capacity && SharedWord.isOf(word, SharedWord.lap(position - capacity, shift))) {
      return false;
    }
    if (!SharedWord.isOf(word, SharedWord.lap(position, shift))) {
      throw new CorruptRingException(
          "a record's header is 0x" + Long.toHexString(word) + " after " + position + " bytes");
    }
    int line = SharedWord.line(word);
    checkLines(line, 1, 0); // before the length is read from it
    int length = (int) INT.get(ALL, buffer + (long) line * RingLayout.LINE);
    checkLength(length);
    checkLines(line, RingLayout.sharedLinesFor(length), length);
    found((long) line * RingLayout.LINE + RingLayout.SHARED_PREFIX, length, line, HEADER);
    return true;
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
    return (messageLine == RingProducer.INLINE ? records : buffer) + messageOffset;
  }

  /**
   * Returns where in {@link #messageMemory} the message starts.
   *
   * @return the offset in bytes
   */
  public long messageOffset() {
    return messageLine == RingProducer.INLINE ? recordsOffset + messageOffset : messageOffset;
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
   * Rests for some microseconds, if that makes a stream faster. To be called before a look for
   * messages, where nothing else waits to be looked at.
   */
  public void rest() {
    backoff.rest();
  }

  /**
   * Hands inline messages to a handler, one after the other: until something else comes, there is
   * nothing, or an eighth of the ring was consumed, which is then to be {@linkplain #acknowledge
   * acknowledged}.
   *
   * @param handler takes the messages
   * @param limit how many at most
   * @return how many messages were handed over
   * @throws CorruptRingException if what is there is not valid
   */
  public int pollInline(MessageHandler handler, int limit) {
    final long start = position;
    final long end = Math.min(start + capacity / 8, backoff.checkpoint());
    long at = start;
    long payload = 0;
    int count = 0;
    // Most records are as long as the last one. Where the next one is does not depend on memory
    // then, so the processor fetches it before this one's header has come.
    long usual = usualHeader;
    int length = (int) RecordHeader.length(usual);
    int size = RingLayout.recordSize(length);
    lastHeader = RecordHeader.TYPE_INLINE;
    try {
      while (count < limit && at < end && !stopped) {
        long offset = at & mask;
        long header = (long) LONG.getAcquire(ALL, RawMemory.word(records + offset));
        if (header != usual || offset + size > capacity) {
          if (RecordHeader.type(header) != RecordHeader.TYPE_INLINE) {
            lastHeader = header;
            break;
          }
          if (!isInline(offset, RecordHeader.length(header))) {
            throw invalidInline(offset, RecordHeader.length(header));
          }
          usual = header;
          length = (int) RecordHeader.length(header);
          size = RingLayout.recordSize(length);
        }
        reached(RingStep.RECEIVER_FOUND);
        // consumed, whatever the handler throws; acknowledged when it is done
        at += size;
        payload += length;
        count++;
        handler.onMessage(ringView, recordsOffset + offset + HEADER, length);
      }
    } finally {
      position = at;
      usualHeader = usual;
      messages += count;
      bytes += payload;
      reached(RingStep.RECEIVER_TAKEN);
    }
    if (isDrained()) {
      backoff.drained(at, messages);
    }
    return count;
  }

  /**
   * Consumes the record of the message that {@link #next} found. Its payload lines, if any, stay
   * taken, and so does its record if it is {@linkplain #hold held}.
   */
  public void advance() {
    position += messageSize;
    messages++;
    bytes += messageLength;
    reached(RingStep.RECEIVER_TAKEN);
  }

  /**
   * Holds the inline message that {@link #next} found: its place is not given back to the sender
   * until {@link #endHold}. There is one at a time.
   *
   * @return whether it is held; false if another one is
   */
  public boolean hold() {
    if (held != NOWHERE) {
      return false;
    }
    held = position;
    heldSize = messageSize;
    heldTold = false;
    return true;
  }

  /** Ends the hold, so that {@link #acknowledge} gives the place back. */
  public void endHold() {
    held = NOWHERE;
    if (heldTold) {
      heldTold = false;
      LONG.setRelease(ALL, ring + RingLayout.HELD, HeldRecord.NONE);
    }
  }

  /**
   * Gives the room of consumed records back to the sender, if there is any. If one of them is held,
   * and others were consumed behind it, the sender is told to leave that one out.
   *
   * @return whether the sender is asleep and has to be woken up
   */
  public boolean acknowledge() {
    long now = position;
    if (now >= backoff.checkpoint()) {
      backoff.measure(now, messages);
      endFences();
    }
    if (held != NOWHERE && !heldTold) {
      if (now == held + heldSize) {
        now = held;
      } else {
        LONG.setOpaque(ALL, ring + RingLayout.HELD, HeldRecord.of(held & mask, heldSize));
        heldTold = true;
      }
    }
    if (now == acknowledged) {
      return false;
    }
    acknowledged = now;
    acknowledgements++;
    LONG.setRelease(ALL, RawMemory.word(ring + RingLayout.CONSUMED), now);
    reached(RingStep.RECEIVER_ACKNOWLEDGED);
    return wake();
  }

  /**
   * Returns whether the last {@link #pollInline} has ended as no record was there.
   *
   * @return whether there was none; otherwise {@link #next} may find something
   */
  public boolean isDrained() {
    return lastHeader == RecordHeader.TYPE_EMPTY;
  }

  /** Ends a {@link #pollInline} of another thread after the message that it is handing over. */
  public void stop() {
    stopped = true;
  }

  /**
   * Returns how many messages were consumed.
   *
   * @return the number of messages
   */
  public long messages() {
    return messages;
  }

  /**
   * Returns how many bytes the consumed messages had.
   *
   * @return the number of bytes
   */
  public long bytes() {
    return bytes;
  }

  /**
   * Returns how often the sender was told what was consumed.
   *
   * @return the number of times
   */
  public long acknowledgements() {
    return acknowledgements;
  }

  private boolean wake() {
    boolean asleep = SleepFlag.wake(ring, RingLayout.SENDER_ASLEEP, fences) != 0;
    if (asleep) {
      reached(RingStep.RECEIVER_WAKES);
    }
    return asleep;
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
   * Returns whether it is worth while to call {@link #next}, which then finds a message, skips
   * padding, or throws. May be called while another thread receives, and is but a hint then.
   *
   * @return false if nothing is there, unless it has come just now
   */
  public boolean mayHaveNext() {
    long at = position;
    long header = (long) LONG.getOpaque(ALL, records + (at & mask));
    return header != 0
        && (RecordHeader.type(header) != RecordHeader.TYPE_SHARED
            || SharedWord.isOf(header, SharedWord.lap(at, layout.ringShift())));
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
   *
   * @param onFlag whether it does so by {@link #sleepOnFlag}
   */
  public void armSleep(boolean onFlag) {
    armed = nextSleep() | (onFlag ? SleepFlag.ON_FLAG : 0);
    isSure = fences || reliesOnFences;
    if (!isSure) {
      SleepFlag.setSenderFences(ring, true);
      reliesOnFences = true; // from the next time on
    }
    SleepFlag.arm(ring, RingLayout.RECEIVER_ASLEEP, armed, isSure);
    messagesBeforeSleep = messages;
  }

  /**
   * Returns whether the other side is sure to notice the last {@link #armSleep}, so that no second
   * look is needed.
   *
   * @return whether it is
   */
  public boolean isSleepSure() {
    return isSure;
  }

  /** Where messages come without a sleep, the sender is spared its fences. */
  private void endFences() {
    if (reliesOnFences && messages - messagesBeforeSleep > MESSAGES_WITHOUT_SLEEP) {
      reliesOnFences = false;
      SleepFlag.setSenderFences(ring, false);
    }
  }

  /**
   * Another even number each time, so that the answer to one does not count for the next; not 0.
   */
  private int nextSleep() {
    sleeps = sleeps >= MAX_SLEEP ? 2 : sleeps + 2;
    return sleeps;
  }

  /**
   * Sleeps as {@link #armSleep} has said, until the other side answers that or {@link
   * #endSleepOnFlag} is called; may return earlier.
   *
   * @param nanos how long at most; {@link Long#MAX_VALUE} is without a limit
   */
  public void sleepOnFlag(long nanos) {
    flag.await(armed, nanos);
  }

  /** Wakes the thread that sleeps by {@link #sleepOnFlag}, or is about to. */
  public void endSleepOnFlag() {
    flag.release();
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
