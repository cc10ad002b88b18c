// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import dev.ferrule.Connection;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Sends the messages of a stream in order, each in the way that the test requests. */
final class NumberedSender {

  /** All ways in which a {@link Sender} sends. */
  enum Way {
    CLAIM,
    CLAIM_OF_MORE,
    TRY_CLAIM,
    COPY_FROM_HEAP,
    COPY_FROM_NATIVE,
    REGISTERED,
    GATHER,
    BATCH,
    BATCH_COPY,
    BATCH_REGISTERED,
    BATCH_GATHER
  }

  private static final int SLOTS = 8;
  private static final int HEAP_OFFSET = 3; // odd on purpose

  private final Sender sender;
  private final MessageStream stream;
  private final MemorySegment heap;
  private final MemorySegment nativeMemory;
  private final RegisteredMemory registered;
  private final int longest;
  private final long[] slotIds = new long[SLOTS];
  private int slot;
  private long next;

  NumberedSender(Connection connection, MessageStream stream, int longest) {
    this.sender = connection.sender();
    this.stream = stream;
    this.longest = longest;
    Arena arena = Arena.ofAuto();
    heap = MemorySegment.ofArray(new byte[longest + HEAP_OFFSET]);
    nativeMemory = arena.allocate(Math.max(1, longest));
    registered = connection.register(arena.allocate(Math.max(1L, (long) SLOTS * longest)));
  }

  /** Returns the number of messages sent. */
  long count() {
    return next;
  }

  /** Sends the next message of the stream and returns its id. */
  long send(Way way) {
    long number = next++;
    int length = stream.length(number);
    switch (way) {
      case CLAIM:
        return written(sender.claim(length), number).commit();
      case CLAIM_OF_MORE:
        return written(sender.claim(Math.min(sender.maxMessage(), 2 * length + 1)), number)
            .commit(length);
      case TRY_CLAIM:
        SendRegion region = sender.tryClaim(length);
        while (region == null) {
          sender.flush();
          Contract.idle();
          region = sender.tryClaim(length);
        }
        return written(region, number).commit();
      case COPY_FROM_HEAP:
        stream.write(heap, HEAP_OFFSET, number);
        return sender.send(heap, HEAP_OFFSET, length);
      case COPY_FROM_NATIVE:
        stream.write(nativeMemory, 0, number);
        return sender.send(nativeMemory.asSlice(0, length));
      case REGISTERED:
        long offset = writeRegistered(number);
        slotIds[slot] = sender.sendRegistered(registered, offset, length);
        return slotIds[slot];
      case GATHER:
        long whole = writeRegistered(number);
        int header = splitHeader(whole, length);
        slotIds[slot] =
            sender.sendRegistered(header(header), registered, whole + header, length - header);
        heap.fill((byte) -1);
        return slotIds[slot];
      case BATCH_REGISTERED:
        long place = writeRegistered(number);
        slotIds[slot] = sender.stageRegistered(registered, place, length);
        return slotIds[slot];
      case BATCH_GATHER:
        long start = writeRegistered(number);
        int first = splitHeader(start, length);
        slotIds[slot] =
            sender.stageRegistered(header(first), registered, start + first, length - first);
        heap.fill((byte) -1);
        return slotIds[slot];
      case BATCH:
        return written(sender.claim(length), number).stage();
      case BATCH_COPY:
        stream.write(heap, HEAP_OFFSET, number);
        return sender.stage(heap, HEAP_OFFSET, length);
    }
    throw new AssertionError(way);
  }

  private SendRegion written(SendRegion region, long number) {
    stream.write(region.buffer(), region.offset(), number);
    return region;
  }

  /** Moves the first third of a message to the heap, and returns its length. */
  private int splitHeader(long offset, int length) {
    int header = length / 3;
    MemorySegment.copy(registered.segment(), offset, heap, HEAP_OFFSET, header);
    registered.segment().asSlice(offset, header).fill((byte) -1);
    return header;
  }

  private MemorySegment header(int length) {
    return heap.asSlice(HEAP_OFFSET, length);
  }

  /** Writes a message to memory that no earlier message uses, and returns its offset. */
  private long writeRegistered(long number) {
    slot = (slot + 1) % SLOTS;
    if (slotIds[slot] != 0) {
      sender.await(slotIds[slot]);
    }
    long offset = (long) slot * longest;
    stream.write(registered.segment(), offset, number);
    return offset;
  }
}
