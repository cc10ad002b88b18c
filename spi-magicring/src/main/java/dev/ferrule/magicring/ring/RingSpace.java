// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.RingOffer;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The sender's view of the receiver's ring: the space that is in use, reserved for unsent messages,
 * and acknowledged.
 *
 * <p>Space is reserved when a message is claimed. The message's place is determined when it is
 * sent, because messages may be shorter than claimed, and may be sent in a different order. In a
 * {@linkplain Mapping#PLAIN plain} ring, the number of bytes skipped at the ring's end is unknown
 * until then. So the worst case is reserved, unless the message must be the next one to be sent.
 *
 * <p><b>Acknowledgments never lack a receive.</b> Each acknowledgment covers at least one message
 * more than the one before it, which {@link #takeAck} checks. So each acknowledgment in flight
 * corresponds to a distinct message that this side considers unacknowledged, and the window limits
 * the number of those. A sender that has a receive posted for each message of the window, and for a
 * goodbye, a want and an end, needs no credits for acknowledgments. The receive of an
 * acknowledgment must be reposted before {@link #takeAck} is called: the space that the call frees
 * may be used, freed and acknowledged before it returns.
 *
 * <p><b>Threads:</b> the thread that polls the receive queue (the polling thread) calls {@link
 * #takeAck}, {@link #takeNumbers} and {@link #takeWants}, one thread at a time. {@link
 * #payloadBytes} and {@link #ringBytes} may be called by any thread. All other methods are called
 * under the send queue's lock.
 */
public final class RingSpace {

  private final long size;
  private final Mapping mapping;
  private final int window;
  private final int longest;
  private final RingCursor tail; // under the lock
  private final int mask;
  private final long[] ends; // position after each message; under the lock, before sent
  private int reservedMessages; // under the lock
  private long reservedBytes; // the worst case of all reservations; under the lock

  /**
   * Whether a reservation has found no space since the last acknowledgment, and an acknowledgment
   * may free some. The success of another sender does not clear it.
   */
  private volatile boolean lacksSpace; // under the lock; cleared by the polling thread

  private volatile int wantsSent; // under the lock
  private volatile long ackedAtWant = -1; // ackedMessages at the last want; under the lock
  private volatile int wantsTaken; // by the polling thread

  // Each counter is written by one thread at a time and never decreases. The stores are release
  // stores: a full fence per counter would cost more than everything else.
  private final AtomicLong sent = new AtomicLong(); // under the lock; after the other fields
  private final AtomicLong tailBytes = new AtomicLong(); // under the lock
  private final AtomicLong payload = new AtomicLong(); // under the lock
  private final AtomicLong ackedMessages = new AtomicLong(); // by the polling thread
  private final AtomicLong ackedBytes = new AtomicLong(); // by the polling thread; before messages

  /**
   * Creates the bookkeeping of an empty ring.
   *
   * @param size the ring's size in bytes
   * @param mapping the receiver's mapping of the ring
   * @param window the maximum number of unacknowledged messages
   * @throws IllegalArgumentException if an argument is out of range
   */
  public RingSpace(long size, Mapping mapping, int window) {
    this.tail = new RingCursor(size, mapping);
    this.size = size;
    this.mapping = mapping;
    this.window = RingOffer.checkWindow(window);
    this.longest = mapping.longest(size);
    int slots = Integer.highestOneBit(2 * window - 1);
    this.mask = slots - 1;
    this.ends = new long[slots];
  }

  /** {@return the maximum length of a message in the ring, in bytes} */
  public int longest() {
    return longest;
  }

  /**
   * Reserves space for a message, if there is any.
   *
   * @param length the message's maximum length in bytes; from 0 to {@link #longest}
   * @return true if space was reserved
   */
  public boolean tryReserve(int length) {
    if (tryReserveAhead(length)) {
      return true;
    }
    boolean lacks = !isAllBack(); // otherwise this side itself has reserved all space
    if (lacks != lacksSpace) {
      lacksSpace = lacks;
    }
    return false;
  }

  /**
   * Reserves space, if there is any, for a message that may never be sent. If there is none, no
   * {@linkplain #isWantDue want} becomes due.
   *
   * @param length the message's maximum length in bytes; from 0 to {@link #longest}
   * @return true if space was reserved
   */
  public boolean tryReserveAhead(int length) {
    if (length < 0 || length > longest) {
      throw new IllegalArgumentException(
          "a message of " + length + " bytes exceeds the maximum of the ring, " + longest);
    }
    if (sent.getPlain() + reservedMessages - ackedMessages.getAcquire() >= window) {
      return false;
    }
    long free = size - (tail.position() - ackedBytes.getAcquire());
    long worst = mapping.worstCase(length);
    // If nothing else is reserved, no message that moves the tail can be sent before this one. A
    // later reservation requires space for the worst case of all reservations.
    long need = reservedBytes == 0 ? tail.costOf(length) : reservedBytes + worst;
    if (need > free) {
      return false;
    }
    reservedMessages++;
    reservedBytes += worst;
    return true;
  }

  /**
   * Releases the space of messages that are not sent.
   *
   * @param length the length that was reserved for each
   * @param count the number of messages
   */
  public void unreserve(int length, int count) {
    long bytes = reservedBytes - count * mapping.worstCase(length);
    if (reservedMessages < count || bytes < 0) {
      throw new IllegalStateException("no space is reserved for " + length + " bytes");
    }
    reservedMessages -= count;
    reservedBytes = bytes;
  }

  /**
   * Places a message after those before it, and releases the excess of its reservation.
   *
   * @param reservedLength the length that was reserved
   * @param actualLength the message's length in bytes
   * @return the offset in the ring to write the message to
   */
  public long place(int reservedLength, int actualLength) {
    if (actualLength < 0 || actualLength > reservedLength) {
      throw new IllegalArgumentException(
          "a message of " + actualLength + " bytes exceeds the " + reservedLength + " reserved");
    }
    unreserve(reservedLength, 1);
    long offset = tail.advance(actualLength);
    long number = sent.getPlain();
    ends[(int) number & mask] = tail.position();
    tailBytes.setRelease(tail.position());
    payload.setRelease(payload.getPlain() + actualLength);
    sent.setRelease(number + 1);
    return offset;
  }

  /**
   * Processes an acknowledgment.
   *
   * @param messagesFreed the total number of messages freed by the receiver
   * @param bytesFreed the total number of bytes of the ring freed with them
   * @return the protocol violation, as a sentence; null if there is none
   */
  public @Nullable String takeAck(long messagesFreed, long bytesFreed) {
    long acked = ackedMessages.getPlain();
    return messagesFreed == acked
        ? "the peer acknowledged no more than the " + acked + " messages acknowledged before"
        : take(messagesFreed, bytesFreed);
  }

  /**
   * Processes the numbers of another control message, which may repeat the last ones.
   *
   * @param messagesFreed the total number of messages freed by the receiver
   * @param bytesFreed the total number of bytes of the ring freed with them
   * @return the protocol violation, as a sentence; null if there is none
   */
  public @Nullable String takeNumbers(long messagesFreed, long bytesFreed) {
    return take(messagesFreed, bytesFreed);
  }

  private @Nullable String take(long messagesFreed, long bytesFreed) {
    long acked = ackedMessages.getPlain();
    long known = sent.getAcquire();
    if (messagesFreed < acked) {
      return "the peer acknowledged "
          + messagesFreed
          + " messages, fewer than the "
          + acked
          + " before";
    }
    if (messagesFreed > known) {
      return "the peer acknowledged "
          + messagesFreed
          + " messages, but only "
          + known
          + " were sent";
    }
    // The entry of the last acknowledged message may have been overwritten; no later entry has.
    long end =
        messagesFreed == acked ? ackedBytes.getPlain() : ends[(int) (messagesFreed - 1) & mask];
    if (bytesFreed != end) {
      return "the peer acknowledged %d bytes with %d messages, which took %d"
          .formatted(bytesFreed, messagesFreed, end);
    }
    if (messagesFreed > acked) {
      // Cleared before the new space becomes visible: a sender that finds none after this sets it
      // again.
      lacksSpace = false;
    }
    ackedBytes.setRelease(bytesFreed);
    ackedMessages.setRelease(messagesFreed);
    return null;
  }

  /**
   * {@return whether a want should be sent} Three conditions must hold. Space has been lacking
   * since the last acknowledgment. The last want was received, because the receiver has only one
   * receive for wants. Something was acknowledged since that want, because until then the receiver
   * knows about the lack. Without the last condition, two sides that both lack space would send
   * wants forever, because each want confirms the other side's.
   */
  public boolean isWantDue() {
    return lacksSpace && wantsSent == wantsTaken && ackedMessages.getAcquire() > ackedAtWant;
  }

  /**
   * Records that a want is sent. Under the lock, and only if one {@linkplain #isWantDue is due}.
   */
  @SuppressWarnings("NonAtomicOperationOnVolatileField") // under the lock
  public void wantSent() {
    ackedAtWant = ackedMessages.getAcquire();
    wantsSent++;
  }

  /**
   * Processes the number of wants that the receiver has received.
   *
   * @param taken the total number
   * @return the protocol violation, as a sentence; null if there is none
   */
  public @Nullable String takeWants(int taken) {
    int known = wantsTaken;
    if (taken != known && (taken != known + 1 || known == wantsSent)) {
      return "the peer confirmed %s requests for space, but %s were sent"
          .formatted(Integer.toUnsignedString(taken), Integer.toUnsignedString(wantsSent));
    }
    wantsTaken = taken;
    return null;
  }

  /**
   * {@return whether everything sent is acknowledged} Then waiting is useless: space that is not
   * free is reserved by this side.
   */
  public boolean isAllBack() {
    return ackedMessages.getAcquire() == sent.getPlain();
  }

  /** {@return the total payload bytes of the messages sent} */
  public long payloadBytes() {
    return payload.getAcquire();
  }

  /**
   * Returns the total bytes of the ring used by these messages, including padding and alignment.
   *
   * @return the number of bytes
   */
  public long ringBytes() {
    return tailBytes.getAcquire();
  }
}
