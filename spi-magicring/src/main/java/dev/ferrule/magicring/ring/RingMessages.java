// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.RingOffer;
import dev.ferrule.rdma.queue.MessageQueue;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The receiver's view of its own ring: the messages, their places, which of them are freed, and
 * what has been acknowledged to the sender. The number of a message is its slot. Messages are freed
 * in any order. A freed message is acknowledged only when all earlier ones are freed, so the sender
 * never overwrites a held message.
 *
 * <p>The peer is not trusted: a message beyond its allowance is refused and changes nothing. The
 * allowance is the space that has been <em>acknowledged</em>, so call {@link #acknowledge} before
 * posting an acknowledgment, not after it.
 *
 * <p><b>Threads:</b> the thread that polls the receive queue (the polling thread) calls {@link
 * #arrived} and {@link #objection}, one thread at a time. The receiver's thread takes the messages
 * and calls {@link #offset} and {@link #free}. {@link #acknowledge} is called under the send
 * queue's lock, as are {@link #acknowledgedMessages} and {@link #acknowledgedBytes} if their values
 * must be consistent. All other methods may be called by any thread.
 *
 * <p><b>No acknowledgment is missed</b> if {@link #isAckDue} is called after each {@link #arrived}
 * by the same thread, after each {@link #free} by the same thread, and by that thread once more
 * after {@link #publishFrees}, before it waits for messages. A thread that does not wait after its
 * last free, or that always finds messages of other connections, may miss one if a message arrives
 * at the moment of that free. The next tick of the event loop then sends it.
 */
public final class RingMessages extends MessageQueue {

  /** Returned instead of a slot if the message was refused. */
  public static final int REFUSED = -1;

  private static final byte EMPTY = 0;
  private static final byte HELD = 1;
  private static final byte FREED = 2;

  private final long size;
  private final int window;
  private final int longest;
  private final Acknowledge acknowledge;
  private final long spaceForLongest;
  private final RingCursor tail; // by the polling thread
  private final int mask;
  private String objection = ""; // by the polling thread
  private volatile int wantsTaken; // by the polling thread
  private volatile boolean wanted; // set by the polling thread, cleared under the send queue's lock

  // By slot. The polling thread writes a slot when a message arrives, and then no longer owns it.
  // It owns the slot again when the freed message has been acknowledged.
  private final long[] offsets;
  private final long[] ends;
  private final byte[]
      states; // HELD is set by the polling thread, other states by the receiver's thread

  // Each counter is written by one thread at a time and never decreases. The stores are release
  // stores: a full fence per counter would cost more than everything else. isAckDue and
  // publishFrees have full fences where they are needed.
  private final AtomicLong arrivedBytes = new AtomicLong(); // by the polling thread
  private final AtomicLong releasedMessages = new AtomicLong(); // by the receiver, in any order
  private final AtomicLong freedMessages = new AtomicLong(); // by the receiver, in arrival order
  private final AtomicLong freedBytes = new AtomicLong(); // by the receiver, with freedMessages
  private final AtomicLong acknowledgedMessages = new AtomicLong(); // under the send queue's lock
  private final AtomicLong acknowledgedBytes = new AtomicLong(); // under the send queue's lock

  /**
   * Creates the bookkeeping of an empty ring.
   *
   * @param size the ring's size in bytes
   * @param mapping the ring's mapping
   * @param window the maximum number of unacknowledged messages
   * @param longest the maximum length of a message, in bytes. An acknowledgment is due when the
   *     sender has no space for a message of this length. So the more such messages fit into the
   *     ring, the more messages each acknowledgment covers
   * @param acknowledge when acknowledgments are due
   * @throws IllegalArgumentException if an argument is out of range
   */
  public RingMessages(
      long size, Mapping mapping, int window, int longest, Acknowledge acknowledge) {
    super(RingOffer.checkWindow(window));
    this.tail = new RingCursor(size, mapping);
    if (longest < 0 || longest > mapping.longest(size)) {
      throw new IllegalArgumentException(
          "invalid maximum message: "
              + longest
              + " bytes; the ring's maximum is "
              + mapping.longest(size));
    }
    this.size = size;
    this.window = window;
    this.longest = longest;
    this.acknowledge = acknowledge;
    this.spaceForLongest = mapping.worstCase(longest);
    int slots = slots();
    this.mask = slots - 1;
    this.offsets = new long[slots];
    this.ends = new long[slots];
    this.states = new byte[slots];
  }

  /**
   * Adds a message that has arrived. Its receive must already be reposted.
   *
   * @param length the message's length in bytes, as reported by the peer
   * @return the message's slot, which it occupies until it is freed; {@link #REFUSED} if the peer
   *     was not allowed to send it
   */
  public int arrived(int length) {
    long number = messagesArrived();
    if (Integer.compareUnsigned(length, longest) > 0) {
      return refuse(
          "the peer sent a message of %s bytes; the maximum is %d"
              .formatted(Integer.toUnsignedString(length), longest));
    }
    if (number - acknowledgedMessages.getAcquire() >= window) {
      return refuse("the peer sent more than %d unacknowledged messages".formatted(window));
    }
    long free = size - (tail.position() - acknowledgedBytes.getAcquire());
    if (tail.costOf(length) > free) {
      return refuse(
          "the peer sent a message that needs %d bytes of the ring, but %d are free"
              .formatted(tail.costOf(length), free));
    }
    int slot = (int) number & mask;
    offsets[slot] = tail.advance(length);
    ends[slot] = tail.position();
    states[slot] = HELD;
    // This comes first: a thread that sees a full ring also sees all its messages counted.
    add(slot, length); // never overflows: every message that was acknowledged has been taken
    arrivedBytes.setRelease(tail.position());
    return slot;
  }

  private int refuse(String why) {
    objection = why;
    return REFUSED;
  }

  /**
   * {@return the reason of the last refusal by {@link #arrived}; empty if no message was refused}
   */
  public String objection() {
    return objection;
  }

  /**
   * Records that the sender lacks space. Everything freed is then acknowledged, now or as soon as a
   * message is freed. The receiver cannot detect this itself if the sender has reserved the space
   * for unsent messages.
   */
  @SuppressWarnings("NonAtomicOperationOnVolatileField") // only one thread at a time polls
  public void wanted() {
    wantsTaken++;
    wanted = true;
  }

  /**
   * {@return the number of wants received} It must be reported to the sender, which sends no
   * further want before the report. Call this after {@link #acknowledge}.
   */
  public int wantsTaken() {
    return wantsTaken;
  }

  /**
   * Returns the offset of a message that is not freed.
   *
   * @param slot the message's slot
   * @return the offset in the ring
   */
  public long offset(int slot) {
    return offsets[slot];
  }

  /**
   * Frees a message. Its slot and its bytes may be reused at any time after that.
   *
   * @param slot the message's slot
   * @throws IllegalStateException if the slot contains no message, or the message is already freed
   */
  public void free(int slot) {
    if (states[slot] != HELD) {
      throw new IllegalStateException("slot " + slot + " contains no message to free");
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
   * {@return whether an acknowledgment of the freed messages is due} It is due for any freed
   * message, if each is to be acknowledged; when a quarter of the window or of the ring is freed;
   * when the sender, as far as this side knows, has no space for one more message or for the
   * longest one; or when the sender has reported a lack of space.
   */
  public boolean isAckDue() {
    long ackedMessages = acknowledgedMessages.getAcquire();
    long ackedBytes = acknowledgedBytes.getAcquire();
    long messages = freedMessages.getAcquire() - ackedMessages;
    if (messages > 0
        && (acknowledge == Acknowledge.EACH
            || 4 * messages >= window
            || 4 * (freedBytes.getAcquire() - ackedBytes) >= size)) {
      return true;
    }
    if (messages > 0 || !isSenderStarving()) {
      return messages > 0 && isSenderStarving();
    }
    // The last message may have arrived while the receiver freed its last one. At least one of the
    // two threads must see what the other has just written; otherwise neither would acknowledge.
    // The other half is in publishFrees.
    VarHandle.fullFence();
    return isAckOwed() && isSenderStarving();
  }

  /**
   * Makes the freed messages visible to the polling thread before the receiver's thread checks
   * again whether the sender lacks space, see {@link #isAckDue}. It is not called after each {@link
   * #free}, because the fence costs as much as the rest of that method.
   */
  public void publishFrees() {
    VarHandle.fullFence();
  }

  private boolean isSenderStarving() {
    long messages =
        acknowledgedMessages.getAcquire(); // read before messagesArrived, so it never exceeds that
    long bytes = acknowledgedBytes.getAcquire();
    return wanted
        || messagesArrived() - messages >= window
        || size - (arrivedBytes.getAcquire() - bytes) < spaceForLongest;
  }

  /** {@return whether there are freed messages that have not been acknowledged} */
  public boolean isAckOwed() {
    long messages = acknowledgedMessages.getAcquire();
    return freedMessages.getAcquire() > messages;
  }

  /**
   * Determines the content of the next acknowledgment. Called under the send queue's lock, before
   * the acknowledgment is posted. The content is afterwards in {@link #acknowledgedMessages} and
   * {@link #acknowledgedBytes}.
   *
   * @return true if there is at least one more message to acknowledge than the last time
   */
  public boolean acknowledge() {
    if (freedMessages.getAcquire() == acknowledgedMessages.getPlain()) {
      return false;
    }
    // Clear this first. This acknowledgment covers any message that is freed or any want that
    // arrives from now on, or the thread that handles it sees the cleared field. The sender may
    // send another want once it knows that its last one was received.
    wanted = false;
    long messages = freedMessages.getAcquire();
    // Not freedBytes, which may have advanced: the sender accepts only consistent numbers. The slot
    // is not reused before the acknowledgment is sent.
    long bytes = ends[(int) (messages - 1) & mask];
    acknowledgedBytes.setRelease(bytes);
    acknowledgedMessages.setRelease(messages);
    return true;
  }

  /** {@return the total number of freed messages acknowledged to the sender} */
  public long acknowledgedMessages() {
    return acknowledgedMessages.getAcquire();
  }

  /** {@return the total number of freed bytes acknowledged to the sender} */
  public long acknowledgedBytes() {
    return acknowledgedBytes.getAcquire();
  }

  /** {@return the total number of freed messages without an earlier held one} */
  public long freedMessages() {
    return freedMessages.getAcquire();
  }

  /** {@return the total number of bytes of the ring freed with {@link #freedMessages}} */
  public long freedBytes() {
    return freedBytes.getAcquire();
  }

  /** {@return the number of messages that have arrived and are not freed} */
  public int heldMessages() {
    long released = releasedMessages.getAcquire();
    return (int) (messagesArrived() - released);
  }

  /**
   * {@return how many more messages the sender may send once all freed ones are acknowledged} This
   * may be 0 even if only one message is held, if it is the oldest.
   */
  public int freeMessages() {
    long freed = freedMessages.getAcquire();
    return (int) (window - (messagesArrived() - freed));
  }

  /**
   * Returns how many more bytes of the ring the sender may use once all freed ones are
   * acknowledged.
   *
   * @return the number of bytes, including those that may be skipped at the ring's end
   */
  public long freeBytes() {
    long freed = freedBytes.getAcquire();
    return size - (arrivedBytes.getAcquire() - freed);
  }
}
