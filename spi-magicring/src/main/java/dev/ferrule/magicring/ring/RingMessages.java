// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.RingOffer;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the receiver knows of its own ring: which messages lie where, which of them are freed, and
 * what of that the sender was told. Messages are freed in any order; but only those are told to the
 * sender before which none is left, so that it never overwrites one that is held.
 *
 * <p>The peer is not trusted: what it sends beyond what it was allowed is refused, and changes
 * nothing here. What it was allowed is what it was <em>told</em>, so {@link #tell} is to be called
 * before an acknowledgment is posted, not after it.
 *
 * <p><b>Threads:</b> whoever polls the receive queue calls {@link #arrived} and {@link #objection},
 * one thread at a time, and hands the slot to the receiver's thread in an orderly way (released and
 * acquired). The receiver's thread calls {@link #offset}, {@link #length} and {@link #free}. {@link
 * #tell} is for the send queue's lock, as are {@link #toldMessages} and {@link #toldBytes} if they
 * are to belong together. All else may be called by any thread.
 *
 * <p><b>No acknowledgment is forgotten</b> if {@link #isAckDue} is asked after each {@link
 * #arrived} and each {@link #free}, by the same thread.
 */
public final class RingMessages {

  /** There is no slot, for the message was refused. */
  public static final int REFUSED = -1;

  private static final byte EMPTY = 0;
  private static final byte HELD = 1;
  private static final byte FREED = 2;

  private final long size;
  private final int window;
  private final int longest;
  private final long roomForLongest;
  private final RingCursor tail; // by whoever polls
  private final int mask;
  private String objection = ""; // by whoever polls
  private volatile int wantsTaken; // by whoever polls, before the next one
  private volatile boolean wanted; // set by whoever polls, cleared under the send queue's lock

  // By slot. Whoever polls writes to a slot when a message arrives in it, and owns it then no more;
  // it owns it again when the sender was told that the message is freed.
  private final long[] offsets;
  private final int[] lengths;
  private final long[] ends;
  private final byte[] states; // HELD by whoever polls, FREED and EMPTY by the receiver's thread

  // Counters that only grow, each of which is written by one thread at a time. They are only
  // released, as a full fence for each would cost more than the rest; isAckDue has one where it
  // matters.
  private final AtomicLong arrivedMessages = new AtomicLong(); // by whoever polls
  private final AtomicLong arrivedBytes = new AtomicLong(); // by whoever polls
  private final AtomicLong releasedMessages = new AtomicLong(); // by the receiver, in any order
  private final AtomicLong freedMessages = new AtomicLong(); // by the receiver: before any held one
  private final AtomicLong freedBytes = new AtomicLong(); // by the receiver, with those
  private final AtomicLong toldMessages = new AtomicLong(); // under the send queue's lock
  private final AtomicLong toldBytes = new AtomicLong(); // under the send queue's lock

  /**
   * Begins with an empty ring.
   *
   * @param size its size in bytes
   * @param mapping how it is mapped
   * @param window how many messages the sender may have unacknowledged
   * @param longest the longest message that the sender may send, in bytes. An acknowledgment is due
   *     when the sender has no room for one of these, so the more of them the ring has room for,
   *     the more messages go with an acknowledgment.
   * @throws IllegalArgumentException if one of them is out of range
   */
  public RingMessages(long size, Mapping mapping, int window, int longest) {
    this.tail = new RingCursor(size, mapping);
    if (longest < 0 || longest > mapping.longest(size)) {
      throw new IllegalArgumentException(
          "messages of " + longest + " bytes in a ring that takes " + mapping.longest(size));
    }
    this.size = size;
    this.window = RingOffer.checkWindow(window);
    this.longest = longest;
    this.roomForLongest = mapping.worstCase(longest);
    int slots = Integer.highestOneBit(2 * window - 1);
    this.mask = slots - 1;
    this.offsets = new long[slots];
    this.lengths = new int[slots];
    this.ends = new long[slots];
    this.states = new byte[slots];
  }

  /**
   * Returns how many slots there are.
   *
   * @return a power of two, not less than the window
   */
  public int slots() {
    return mask + 1;
  }

  /**
   * Takes in a message that has arrived, whose receive is posted again already.
   *
   * @param length its length in bytes, as the peer gave it
   * @return the message's slot, which is its own until it is freed; {@link #REFUSED} if the peer
   *     was not allowed to send it
   */
  public int arrived(int length) {
    long number = arrivedMessages.getPlain();
    if (Integer.compareUnsigned(length, longest) > 0) {
      return refuse(
          "it sent a message of %s bytes, but %d are the most"
              .formatted(Integer.toUnsignedString(length), longest));
    }
    if (number - toldMessages.getAcquire() >= window) {
      return refuse("it sent more than %d messages without acknowledgment".formatted(window));
    }
    long free = size - (tail.position() - toldBytes.getAcquire());
    if (tail.costOf(length) > free) {
      return refuse(
          "it sent a message that takes %d bytes where the ring has %d free"
              .formatted(tail.costOf(length), free));
    }
    int slot = (int) number & mask;
    offsets[slot] = tail.advance(length);
    lengths[slot] = length;
    ends[slot] = tail.position();
    states[slot] = HELD;
    arrivedBytes.setRelease(tail.position());
    arrivedMessages.setRelease(number + 1);
    return slot;
  }

  private int refuse(String why) {
    objection = why;
    return REFUSED;
  }

  /**
   * Returns why {@link #arrived} refused a message last.
   *
   * @return a sentence about the peer; empty if none was refused
   */
  public String objection() {
    return objection;
  }

  /**
   * The sender lacks room, so it is to be told of whatever is freed next, or was already. It cannot
   * be seen from here if it has reserved what it lacks for messages that it has not sent.
   */
  @SuppressWarnings("NonAtomicOperationOnVolatileField") // one thread at a time polls
  public void wanted() {
    wantsTaken++;
    wanted = true;
  }

  /**
   * Tells whether the sender lacks room, as far as it has said, and was told of nothing since.
   *
   * @return whether it does
   */
  public boolean isWanted() {
    return wanted;
  }

  /**
   * Returns how many wants were taken, which the sender has to be told, as it sends no other before
   * that. To be asked after {@link #tell}.
   *
   * @return the number
   */
  public int wantsTaken() {
    return wantsTaken;
  }

  /**
   * Returns where a message lies that is not freed.
   *
   * @param slot its slot
   * @return the offset in the ring
   */
  public long offset(int slot) {
    return offsets[slot];
  }

  /**
   * Returns how long a message is that is not freed.
   *
   * @param slot its slot
   * @return the length in bytes
   */
  public int length(int slot) {
    return lengths[slot];
  }

  /**
   * Frees a message. Its slot and its bytes may be used again at any time after.
   *
   * @param slot its slot
   * @throws IllegalStateException if there is no message in the slot, or it is freed already
   */
  public void free(int slot) {
    if (states[slot] != HELD) {
      throw new IllegalStateException("there is no message in slot " + slot + " to be freed");
    }
    states[slot] = FREED;
    releasedMessages.setRelease(releasedMessages.getPlain() + 1);
    long number = freedMessages.getPlain();
    long bytes = freedBytes.getPlain();
    int next = (int) number & mask;
    while (states[next] == FREED) {
      states[next] = EMPTY;
      bytes = ends[next];
      number++;
      next = (int) number & mask;
    }
    freedBytes.setRelease(bytes);
    freedMessages.setRelease(number);
  }

  /**
   * Tells whether it is time to tell the sender what was freed: because that is a quarter of the
   * messages or the bytes that it may have under way; or because the sender has, as far as it was
   * told and this side knows, no room for one more message or for the longest one; or because it
   * has said that it lacks room.
   *
   * @return whether it is
   */
  public boolean isAckDue() {
    long toldBefore = toldMessages.getAcquire();
    long bytesToldBefore = toldBytes.getAcquire();
    long messages = freedMessages.getAcquire() - toldBefore;
    if (messages > 0
        && (4 * messages >= window || 4 * (freedBytes.getAcquire() - bytesToldBefore) >= size)) {
      return true;
    }
    boolean starving = isSenderStarving();
    if (messages > 0 == starving) {
      return starving;
    }
    // The sender may have sent its last message while the receiver freed its last: each thread must
    // not miss what the other one has just written, or none of them would tell the sender.
    VarHandle.fullFence();
    return isAckOwed() && isSenderStarving();
  }

  private boolean isSenderStarving() {
    long messages = toldMessages.getAcquire(); // before what has arrived, to be less than that
    long bytes = toldBytes.getAcquire();
    return wanted
        || arrivedMessages.getAcquire() - messages >= window
        || size - (arrivedBytes.getAcquire() - bytes) < roomForLongest;
  }

  /**
   * Tells whether anything was freed of which the sender was not told.
   *
   * @return whether anything was
   */
  public boolean isAckOwed() {
    long messages = toldMessages.getAcquire();
    return freedMessages.getAcquire() > messages;
  }

  /**
   * Settles what the next acknowledgment says; under the send queue's lock, and before it is
   * posted. What to say is in {@link #toldMessages} and {@link #toldBytes} then.
   *
   * @return whether there is anything to say, that is, at least one message more than the last time
   */
  public boolean tell() {
    if (freedMessages.getAcquire() == toldMessages.getPlain()) {
      return false;
    }
    // First this: who frees or wants from now on either is told of here, or sees that it was
    // cleared; and the sender may want again once it knows that its last want was taken.
    wanted = false;
    long messages = freedMessages.getAcquire();
    // Not freedBytes, which may have gone on: the sender takes only what belongs together. Nothing
    // arrives in the slot before the sender is told.
    long bytes = ends[(int) (messages - 1) & mask];
    toldBytes.setRelease(bytes);
    toldMessages.setRelease(messages);
    return true;
  }

  /**
   * Returns how many freed messages the sender was told of, ever.
   *
   * @return the number of messages
   */
  public long toldMessages() {
    return toldMessages.getAcquire();
  }

  /**
   * Returns how many freed bytes the sender was told of, ever.
   *
   * @return the number of bytes
   */
  public long toldBytes() {
    return toldBytes.getAcquire();
  }

  /**
   * Returns how many messages are freed, ever, of those before which none is left.
   *
   * @return the number of messages
   */
  public long freedMessages() {
    return freedMessages.getAcquire();
  }

  /**
   * Returns how many bytes of the ring are freed with {@link #freedMessages}, ever.
   *
   * @return the number of bytes
   */
  public long freedBytes() {
    return freedBytes.getAcquire();
  }

  /**
   * Returns how many messages have arrived and are not freed.
   *
   * @return the number of messages
   */
  public int heldMessages() {
    long released = releasedMessages.getAcquire();
    return (int) (arrivedMessages.getAcquire() - released);
  }

  /**
   * Returns how many messages the sender may send after all that has arrived, once it is told what
   * is freed. It may be 0 although only one message is held, if that is the oldest.
   *
   * @return the number of messages
   */
  public int freeMessages() {
    long freed = freedMessages.getAcquire();
    return (int) (window - (arrivedMessages.getAcquire() - freed));
  }

  /**
   * Returns how many bytes of the ring the sender may take after all that has arrived, once it is
   * told what is freed.
   *
   * @return the number of bytes, with what may be lost at the ring's end
   */
  public long freeBytes() {
    long freed = freedBytes.getAcquire();
    return size - (arrivedBytes.getAcquire() - freed);
  }
}
