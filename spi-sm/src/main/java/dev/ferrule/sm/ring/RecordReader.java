// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.HEADER;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.MessageHandler;
import dev.ferrule.posix.RawMemory;
import java.lang.foreign.MemorySegment;

/**
 * The part of {@link RingConsumer} that keeps the receiver's position and reads the records: {@link
 * #next} finds and describes the next message, {@link #advance} consumes its record, and {@link
 * #pollInline} does both for many inline messages.
 *
 * <p>Every value written by the sender is read once and checked before it is used. Not thread-safe.
 */
class RecordReader {

  /**
   * The number of messages from which a poll counts as part of a stream, in which the sender does
   * not await replies. At most the number that a listener's receiver polls from a connection at a
   * time.
   */
  private static final int MANY = 8;

  final long ring; // the address
  final long mask; // of the offset of a position among the records
  long position; // of the next record

  private final RingLayout layout;
  private final long buffer; // the address
  private final MemorySegment recordsView;
  private final MemorySegment bufferView;
  private final long records; // the address
  private final int capacity;
  private final int inlineMax;

  private volatile boolean stopped;

  private long messageOffset;
  private int messageLength;
  private int messageLine;
  private int messageSize; // of its record
  private long lastHeader; // read by pollInline
  private long usualHeader = RecordHeader.inline(0); // of the last inline message

  private long messages;
  private long bytes;

  RecordReader(RingLayout layout, MemorySegment ring, MemorySegment buffer) {
    this.layout = layout;
    this.ring = RawMemory.address(ring);
    this.buffer = RawMemory.address(buffer);
    // the program's view
    this.recordsView = ring.asSlice(layout.recordsOffset(), layout.capacity()).asReadOnly();
    this.bufferView = buffer.asReadOnly();
    this.records = this.ring + layout.recordsOffset();
    this.capacity = layout.capacity();
    this.mask = capacity - 1;
    this.inlineMax = Math.min(layout.inlineMax(), layout.maxMessage());
  }

  /**
   * Looks for the next message. If there is one, the {@code message} methods describe it until the
   * next call.
   *
   * @return whether there is one
   * @throws CorruptRingException if the record is not valid
   */
  public final boolean next() {
    long skipped = 0;
    while (true) {
      long offset = position & mask;
      long header = (long) LONG.getAcquire(ALL, records + offset);
      switch (RecordHeader.type(header)) {
        case RecordHeader.TYPE_INLINE -> {
          RingTestHook.reached(RingTestPoint.RECEIVER_FOUND);
          nextInline(offset, RecordHeader.length(header));
          return true;
        }
        case RecordHeader.TYPE_LINES -> {
          RingTestHook.reached(RingTestPoint.RECEIVER_FOUND);
          nextInLines(RecordHeader.line(header), RecordHeader.linesLength(header));
          return true;
        }
        case RecordHeader.TYPE_PADDING -> {
          long size = RecordHeader.length(header);
          RecordChecks.checkPadding(offset, size, skipped, capacity);
          skipped += size;
          position += size;
          RingTestHook.reached(RingTestPoint.RECEIVER_TAKEN);
        }
        default -> {
          if (header != 0) {
            throw RecordChecks.invalidHeader(header);
          }
          RingTestHook.reached(RingTestPoint.NOTHING_FOUND);
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

  /** Returns whether an inline message of a length fits in a record at an offset. */
  private boolean isInline(long offset, long length) {
    return length <= inlineMax && offset + HEADER + length <= capacity;
  }

  private CorruptRingException invalidInline(long offset, long length) {
    return RecordChecks.invalidInline(offset, length, inlineMax, capacity);
  }

  private void nextInLines(int line, int length) {
    RecordChecks.checkLines(line, length, layout);
    found((long) line * RingLayout.LINE, length, line, HEADER);
  }

  private void found(long offset, int length, int line, int size) {
    messageOffset = offset;
    messageLength = length;
    messageLine = line;
    messageSize = size;
  }

  /** {@return the memory that contains the message: the records or the payload lines} */
  public final MemorySegment messageMemory() {
    return messageLine == RingProducer.INLINE ? recordsView : bufferView;
  }

  /** {@return the address of the message} */
  public final long messageAddress() {
    return (messageLine == RingProducer.INLINE ? records : buffer) + messageOffset;
  }

  /** {@return the offset of the message in {@link #messageMemory}, in bytes} */
  public final long messageOffset() {
    return messageOffset;
  }

  /** Returns the size of the message's record. */
  final int messageSize() {
    return messageSize;
  }

  /** {@return the message's length in bytes} */
  public final int messageLength() {
    return messageLength;
  }

  /**
   * {@return the message's first payload line, to be passed to {@link RingConsumer#release}; or
   * {@link RingProducer#INLINE}}
   */
  public final int messageLine() {
    return messageLine;
  }

  /**
   * Passes inline messages to a handler, one after the other. Stops at the limit, at a record of
   * another type or none, or when an eighth of the ring is consumed. The caller {@linkplain
   * RingConsumer#acknowledge acknowledges} the records afterwards.
   *
   * @return the number of messages passed
   * @throws CorruptRingException if a record is not valid
   */
  public final int pollInline(MessageHandler handler, int limit) {
    final long start = position;
    final long end = start + capacity / 8;
    long at = start;
    long payload = 0;
    int count = 0;
    // Most records are as long as the last one. The address of the next one then does not depend on
    // memory, so the processor fetches it before this one's header has arrived.
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
        RingTestHook.reached(RingTestPoint.RECEIVER_FOUND);
        // consumed even if the handler throws; acknowledged when it is done
        at += size;
        payload += length;
        count++;
        handler.onMessage(recordsView, offset + HEADER, length);
      }
    } finally {
      position = at;
      usualHeader = usual;
      messages += count;
      bytes += payload;
      if (count >= MANY && !stopped) { // otherwise the connection is being closed
        clear(start & mask, at - start);
      }
      RingTestHook.reached(RingTestPoint.RECEIVER_TAKEN);
    }
    return count;
  }

  /**
   * Clears consumed records, so that their cache lines are in the modified state in this
   * processor's cache. The sender's processor then prefetches lines ahead of its stores; it
   * acquires lines in the shared state only one by one, at each store. Where one message at a time
   * goes back and forth, clearing costs time: fetching a modified line takes longer.
   */
  private void clear(long offset, long size) {
    long first = Math.min(size, capacity - offset);
    RawMemory.clear(records + offset, first);
    RawMemory.clear(records, size - first);
  }

  /**
   * Consumes the record of the message found by {@link #next}. Its payload lines, if any, stay in
   * use, as does its record if it is {@linkplain RingConsumer#hold held}.
   */
  public final void advance() {
    position += messageSize;
    messages++;
    bytes += messageLength;
    RingTestHook.reached(RingTestPoint.RECEIVER_TAKEN);
  }

  /**
   * {@return whether the last {@link #pollInline} has ended because there was no record; otherwise
   * {@link #next} may find a message}
   */
  public final boolean isDrained() {
    return lastHeader == RecordHeader.TYPE_EMPTY;
  }

  /** Ends a {@link #pollInline} of another thread after the message that it is passing. */
  public final void stop() {
    stopped = true;
  }

  /** {@return the number of consumed messages} */
  public final long messages() {
    return messages;
  }

  /** {@return the number of bytes of the consumed messages} */
  public final long bytes() {
    return bytes;
  }

  /**
   * {@return whether {@link #next} would find a message, skip padding, or throw: false if there is
   * no record, unless it was published just now} May be called while another thread receives, and
   * is then only a hint.
   */
  public final boolean mayHaveNext() {
    boolean found = (long) LONG.getOpaque(ALL, records + (position & mask)) != 0;
    if (!found) {
      RingTestHook.reached(RingTestPoint.NOTHING_FOUND);
    }
    return found;
  }
}
