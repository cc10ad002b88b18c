// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.HEADER;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.posix.PosixException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The records of a ring, as written by threads that hold a lock one after the other. An epoch ends
 * when a thread stops while it holds the lock. The next epoch has another mapping of the same
 * records, and begins behind the last record that is visible to the receiver.
 *
 * <p>That record is found by walking the records themselves from the last checkpoint. A checkpoint
 * is made before each read of the receiver's consumed count, so no record behind it is overwritten
 * before the next one. A message therefore needs no additional store.
 */
final class Epoch {

  private static final VarHandle CHECKPOINTS;
  private static final VarHandle MESSAGES;
  private static final VarHandle BYTES;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      CHECKPOINTS = lookup.findVarHandle(Epoch.class, "checkpoints", int.class);
      MESSAGES = lookup.findVarHandle(Epoch.class, "messages", long.class);
      BYTES = lookup.findVarHandle(Epoch.class, "bytes", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * The totals up to some message.
   *
   * @param messages the number of messages, which is the id of the last one
   * @param bytes the sum of their lengths
   * @param tail the position behind the last one's record
   */
  record State(long messages, long bytes, long tail) {

    static final State NEW = new State(0, 0, 0);

    /**
     * Returns the state behind all records that are visible to the receiver.
     *
     * @param layout the ring's layout
     * @param records the address of the records
     * @throws CorruptRingException if the receiver has written there
     */
    State withAllPublished(RingLayout layout, long records) {
      long count = messages;
      long sum = bytes;
      long at = tail;
      while (true) {
        long offset = at & layout.capacity() - 1;
        long header = (long) LONG.getAcquire(ALL, records + offset);
        if (header == 0) {
          return new State(count, sum, at);
        }
        long size =
            switch (RecordHeader.type(header)) {
              case RecordHeader.TYPE_INLINE -> {
                count++;
                long length = RecordHeader.length(header);
                sum += length;
                yield length <= layout.inlineMax() ? RingLayout.recordSize((int) length) : 0;
              }
              case RecordHeader.TYPE_LINES -> {
                count++;
                sum += RecordHeader.linesLength(header);
                yield HEADER;
              }
              case RecordHeader.TYPE_PADDING -> RecordHeader.length(header);
              default -> 0;
            };
        at += size;
        if (size < HEADER || size % HEADER != 0 || at - tail >= layout.capacity()) {
          throw new CorruptRingException(
              "the receiver has overwritten a record's header with 0x" + Long.toHexString(header));
        }
      }
    }
  }

  private final SendingEnd end;
  private final RingLayout layout;
  private final RecordMemory memory;
  private final AtomicReference<@Nullable RecordMemory> spare = new AtomicReference<>();
  private final State start;
  private final RecordWriter writer;

  private long messages; // sent and counted
  private long bytes; // of these messages

  // two, by the parity of their number: a thread that stops while it writes one leaves the other
  // intact
  private final long[] checkpointMessages = new long[2];
  private final long[] checkpointBytes = new long[2];
  private final long[] checkpointTails = new long[2];
  private int checkpoints;

  /**
   * Begins an epoch.
   *
   * @param memory the records, which are no other epoch's
   * @param start what was sent before
   * @throws CorruptRingException if the receiver's side of the ring is not valid
   */
  Epoch(SendingEnd end, RingLayout layout, RecordMemory memory, State start) {
    this.end = end;
    this.layout = layout;
    this.memory = memory;
    this.start = start;
    this.writer = new RecordWriter(end, layout, memory.address(), start.tail);
    this.bytes = start.bytes;
    MESSAGES.setRelease(this, start.messages);
    makeCheckpoint();
  }

  /** Returns the number of messages sent before this epoch. */
  long messagesBefore() {
    return start.messages;
  }

  /** Returns the number of messages sent and counted. */
  long messages() {
    return (long) MESSAGES.getAcquire(this);
  }

  /** Returns the sum of the lengths of all messages sent and counted. */
  long bytes() {
    return (long) BYTES.getOpaque(this);
  }

  /** Returns the state at the last checkpoint. */
  State checkpoint() {
    while (true) {
      int number = (int) CHECKPOINTS.getAcquire(this);
      int slot = number & 1;
      State state =
          new State(checkpointMessages[slot], checkpointBytes[slot], checkpointTails[slot]);
      VarHandle.acquireFence();
      if ((int) CHECKPOINTS.getAcquire(this) == number) { // otherwise the slot may have been reused
        return state;
      }
    }
  }

  /**
   * Begins the epoch after this one, in which a thread has stopped. Several threads may do so;
   * their epochs are equal, as long as none is used.
   *
   * <p>The checkpoint is read after the mapping is retired: until then the thread may continue,
   * make another checkpoint, and overwrite records behind the one before. Afterwards it makes one
   * more at most, before it finds that it was cut off, and that one counts only records of earlier
   * holds, which are visible.
   *
   * @return the next epoch; null if there is no memory for it
   * @throws CorruptRingException if the receiver has written to the records or the counts
   */
  @Nullable Epoch replacement() {
    RecordMemory next = spare.getAndSet(null);
    if (next == null) {
      try {
        next = memory.duplicate();
      } catch (PosixException e) {
        return null;
      }
    }
    if (!memory.retire()) {
      spare.set(next);
      return null;
    }
    end.reached(RingStep.SHARED_REPLACED);
    return new Epoch(end, layout, next, checkpoint().withAllPublished(layout, next.address()));
  }

  /** Retires the records, as the connection ends. */
  void retire() {
    memory.retire();
  }

  // -- methods for the thread that holds the lock

  /**
   * Reserves room for a record that consists of a header.
   *
   * @param others how many such records are already reserved
   * @return whether there is room
   */
  boolean reserve(int others) {
    writer.setReserved((long) others * HEADER);
    makeCheckpoint();
    return writer.reserve(HEADER);
  }

  /**
   * Publishes a reserved record that consists of a header.
   *
   * @param line the first line of the message
   * @param length its length
   * @param others how many such records are reserved, including this one
   * @return the message's id
   */
  long publish(int line, int length, int others) {
    writer.setReserved((long) others * HEADER);
    writer.stageHeader(RecordHeader.lines(line, length));
    writer.publish();
    end.reached(RingStep.SHARED_PUBLISHED);
    return count(length);
  }

  /**
   * Sends an inline message.
   *
   * @param source the message's segment
   * @param offset the start of the message in it
   * @param length its length, at most {@link RecordWriter#inlineMax}
   * @param reserved how many records that consist of a header are reserved; not read if none is
   * @return the message's id; 0 if there is no room
   */
  long trySend(MemorySegment source, long offset, int length, AtomicInteger reserved) {
    if (!writer.tryWrite(source, offset, length)) {
      return trySendInSteps(source, offset, length, reserved);
    }
    end.reached(RingStep.SHARED_PUBLISHED);
    writer.markAhead();
    return count(length);
  }

  private long trySendInSteps(
      MemorySegment source, long offset, int length, AtomicInteger reserved) {
    int size = RingLayout.recordSize(length);
    writer.setReserved((long) reserved.get() * HEADER);
    makeCheckpoint();
    if (!writer.reserve(size)) {
      return 0;
    }
    writer.stageInline(source, offset, length, length);
    writer.publish();
    end.reached(RingStep.SHARED_PUBLISHED);
    return count(length);
  }

  private long count(int length) {
    long id = messages + 1;
    BYTES.setOpaque(this, bytes + length);
    MESSAGES.setRelease(this, id);
    end.reached(RingStep.SHARED_COUNTED);
    return id;
  }

  /** Must be called before the receiver's counts are read, on which free room depends. */
  private void makeCheckpoint() {
    int number = checkpoints + 1;
    int slot = number & 1;
    VarHandle
        .releaseFence(); // a reader that finds this slot in use also finds the number before it
    checkpointMessages[slot] = messages;
    checkpointBytes[slot] = bytes;
    checkpointTails[slot] = writer.published();
    CHECKPOINTS.setRelease(this, number);
    VarHandle.storeStoreFence(); // before the records that may be overwritten from now on
  }
}
