// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The messages of one sender: its reservations, its staged messages, and the ids of its posted
 * ones. The senders of a connection share its {@link SendQueue}, and all space in it. A staged
 * message is already a work request, but without its number and the protocol's fields.
 *
 * <p>The bytes of a message are at a <em>place</em>: lines of the queue's send memory or, if they
 * are posted inline, a slot of this outbox. Posting copies inline bytes, so their slot is free when
 * posting returns, without a completion. If all slots are in use, an inline message takes lines.
 *
 * <p>Ids count from 1 in each outbox. The send queue numbers the messages of all senders. For its
 * last posted messages, the outbox maps each id to that number. Older messages are complete, since
 * the queue limits the number of incomplete ones.
 *
 * <p><b>Threads:</b> used by the sender's thread.
 */
public final class Outbox {

  /** The place of the first slot. Lines have smaller numbers: this many would be 64 GiB. */
  private static final int FIRST_SLOT = 1 << 30;

  private static final int SLOTS = SendQueue.MAX_CHAIN;

  private final SendQueue queue;
  private final SendOperation operation;
  private final int inlineMax;

  // The staged messages. Their addresses, keys and flags are in the work requests.
  private final SendChain chain = new SendChain(SendQueue.MAX_CHAIN);
  private final int[] places = new int[SendQueue.MAX_CHAIN];
  private final int[] reservedLengths = new int[SendQueue.MAX_CHAIN];
  private final int[] lengths = new int[SendQueue.MAX_CHAIN];
  private int staged;

  private final MemorySegment slots;
  private final int slotSize;
  private final int[] freeSlots = new int[SLOTS]; // a stack
  private int freeSlotCount;
  private final int[] slotReservedLengths =
      new int[SLOTS]; // may exceed the message's length, if the reservation was a spare one

  private final int mask;
  private final long[] numbers; // the numbers in the queue of the last posted messages, by id
  private long posted; // in total
  private long reserved; // in total, including spare reservations, excluding released ones
  private int spare; // reservations of inline messages that the program has not claimed yet
  private int spareLength; // of each of them

  /**
   * Creates an empty outbox.
   *
   * @param operation the operation of messages
   * @param unacked the maximum number of unacknowledged messages of all senders
   * @param inlineMax the maximum length of an inline message; below 0 no message is inline
   */
  Outbox(SendQueue queue, SendOperation operation, int unacked, int inlineMax) {
    this.queue = queue;
    this.operation = operation;
    this.inlineMax = inlineMax;
    this.slotSize = (Math.max(inlineMax, 0) + SendQueue.LINE - 1) / SendQueue.LINE * SendQueue.LINE;
    this.slots = Arena.ofAuto().allocate((long) SLOTS * slotSize, SendQueue.LINE);
    if (inlineMax > 0) {
      while (freeSlotCount < SLOTS) {
        freeSlots[freeSlotCount] = SLOTS - 1 - freeSlotCount;
        freeSlotCount++;
      }
    }
    int size = Integer.highestOneBit(2 * unacked - 1);
    this.mask = size - 1;
    this.numbers = new long[size];
  }

  /**
   * Reserves space for a message: memory, a work request, and resources of the peer.
   *
   * @param length the message's length in bytes
   * @param memory how many of its bytes need memory of the queue or of this outbox. All do, unless
   *     the payload is in registered memory of the program: then only the header does, or nothing.
   *     A header takes lines, as such a message is not posted inline
   * @return the place of that memory, {@link SendQueue#NO_LINES} if it needs none; {@link
   *     SendQueue#FULL} or {@link SendQueue#HELD}
   */
  public int reserve(int length, int memory) {
    boolean takesSlot = memory > 0 && length <= inlineMax && freeSlotCount > 0;
    if (takesSlot && spare > 0 && length <= spareLength) {
      spare--;
      return takeSlot(spareLength);
    }
    int place = queue.reserve(this, length, takesSlot ? 0 : memory);
    return takesSlot && place == SendQueue.NO_LINES ? takeSlot(length) : place;
  }

  private int takeSlot(int reservedLength) {
    freeSlotCount--;
    int slot = freeSlots[freeSlotCount];
    slotReservedLengths[slot] = reservedLength;
    return FIRST_SLOT + slot;
  }

  private void giveSlotBack(int place) {
    if (place >= FIRST_SLOT) {
      freeSlots[freeSlotCount] = place - FIRST_SLOT;
      freeSlotCount++;
    }
  }

  /**
   * Returns the memory of a place.
   *
   * @param place the result of {@link #reserve}
   * @return the segment to which {@link #offset} refers
   */
  public MemorySegment memory(int place) {
    return place >= FIRST_SLOT ? slots : queue.memory();
  }

  /**
   * Returns the offset of a place.
   *
   * @param place the result of {@link #reserve}
   * @return the offset in {@link #memory}, in bytes
   */
  public long offset(int place) {
    return place >= FIRST_SLOT
        ? (long) (place - FIRST_SLOT) * slotSize
        : Math.max(place, 0) * (long) SendQueue.LINE;
  }

  /**
   * Releases the space of a reservation.
   *
   * @param place the result of {@link #reserve}
   * @param length the reserved length in bytes
   */
  public void unreserve(int place, int length) {
    giveSlotBack(place);
    queue.unreserve(this, lineOf(place), reservedLength(place, length));
  }

  /**
   * Stages a message in the memory that was reserved for it.
   *
   * @param place the result of {@link #reserve}
   * @param reservedLength the reserved length in bytes
   * @param length the message's length in bytes, at most the reserved length
   * @return whether more can be staged before {@link #publish}
   */
  public boolean stage(int place, int reservedLength, int length) {
    long base = place >= FIRST_SLOT ? slots.address() : queue.memoryAddress();
    int reservedInPeer = reservedLength(place, reservedLength);
    return add(place, base + offset(place), reservedInPeer, length, queue.memoryKey());
  }

  /** Returns the length for which resources of the peer are reserved. */
  private int reservedLength(int place, int length) {
    return place >= FIRST_SLOT ? slotReservedLengths[place - FIRST_SLOT] : length;
  }

  /**
   * Stages a message of a header and registered memory of the program, in that order.
   *
   * @param place the place of the header
   * @param headerLength the header's length in bytes; 0 for none
   * @param address the address of the other bytes
   * @param length their number, at least 1
   * @param key the local key of their memory
   * @return whether more can be staged before {@link #publish}
   */
  public boolean stageGather(int place, int headerLength, long address, int length, int key) {
    if (headerLength == 0) {
      return add(SendQueue.NO_LINES, address, length, length, key);
    }
    int total = headerLength + length;
    chain.set(
        staged,
        operation,
        0,
        queue.memoryAddress() + offset(place),
        headerLength,
        queue.memoryKey(),
        0);
    chain.setSecond(staged, address, length, key);
    return add(place, total, total);
  }

  private boolean add(int place, long address, int reservedLength, int length, int key) {
    int flags = length <= inlineMax ? SendChain.INLINE : 0;
    chain.set(staged, operation, 0, address, length, key, flags);
    return add(place, reservedLength, length);
  }

  private boolean add(int place, int reservedLength, int length) {
    places[staged] = place;
    reservedLengths[staged] = reservedLength;
    lengths[staged] = length;
    staged++;
    return staged < SendQueue.MAX_CHAIN;
  }

  /**
   * Copies and posts an inline message, if nothing is staged and there is space. Takes the lock
   * once; reserving, staging and publishing take it twice.
   *
   * @param source the message's memory
   * @param offset its offset in the source, in bytes
   * @param length its length in bytes
   * @return 0 or more if it is posted; {@link SendQueue#FULL} if it must be reserved first; {@link
   *     SendQueue#FAILED} if posting failed
   */
  public int trySend(MemorySegment source, long offset, int length) {
    if (staged > 0 || length > inlineMax || freeSlotCount == 0) {
      return SendQueue.FULL;
    }
    int slot = freeSlots[freeSlotCount - 1]; // taken only until the message is posted
    long start = (long) slot * slotSize;
    MemorySegment.copy(source, offset, slots, start, length);
    add(SendQueue.NO_LINES, slots.address() + start, length, length, 0);
    try {
      return queue.tryPublish(this, length);
    } finally {
      staged = 0;
    }
  }

  /** {@return the number of staged messages} */
  public int staged() {
    return staged;
  }

  /**
   * Posts the staged messages, with one doorbell.
   *
   * @return whether posting succeeded; if not, the connection has ended
   */
  public boolean publish() {
    try {
      return queue.publish(this);
    } finally {
      for (int i = 0; i < staged; i++) {
        giveSlotBack(places[i]);
      }
      staged = 0;
    }
  }

  /** {@return the id of the last posted message; 0 if there is none} */
  public long posted() {
    return posted;
  }

  /** {@return the send queue's number of the last posted message; at least one must be posted} */
  public long lastNumber() {
    return numbers[(int) posted & mask];
  }

  /** {@return the id of the last staged or posted message; 0 if there is none} */
  public long lastId() {
    return posted + staged;
  }

  /**
   * Returns whether the peer's device has acknowledged a message. Polls for completions if
   * necessary.
   *
   * @param id the id of a staged or posted message
   * @return whether it has
   */
  public boolean isComplete(long id) {
    return id <= posted - numbers.length
        || (id <= posted && queue.isComplete(numbers[(int) id & mask]));
  }

  /** Requests a wake-up of threads when there may be space for a message. */
  public void armForRoom() {
    queue.armForRoom();
  }

  /** Ends the use of the queue. Nothing may be reserved or staged. */
  public void close() {
    queue.closeOutbox();
  }

  /** Returns the work requests of the staged messages. */
  SendChain chain() {
    return chain;
  }

  /** Returns the first line of a staged message; {@link SendQueue#NO_LINES} if it has none. */
  int line(int index) {
    return lineOf(places[index]);
  }

  private static int lineOf(int place) {
    return place >= FIRST_SLOT ? SendQueue.NO_LINES : place;
  }

  int reservedLength(int index) {
    return reservedLengths[index];
  }

  int length(int index) {
    return lengths[index];
  }

  /** Records that a message is posted, by its number in the queue. */
  void addPosted(long number) {
    posted++;
    numbers[(int) posted & mask] = number;
  }

  /** Records reservations or, with a negative number, their release. */
  void addReserved(int more) {
    reserved += more;
  }

  /** Records the spare reservations of the sender's current batch. */
  void setSpare(int count, int length) {
    spare = count;
    spareLength = length;
  }

  int spare() {
    return spare;
  }

  int spareLength() {
    return spareLength;
  }

  /** Returns how many messages are reserved but not posted. */
  long held() {
    return reserved - posted;
  }

  /** Returns how many messages the program has claimed, without staged ones. */
  long claimed() {
    return held() - staged - spare;
  }
}
