// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.RingOffer;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What the sender knows of the ring at the receiver: what is taken, what is reserved for messages
 * that are not sent yet, and what was acknowledged.
 *
 * <p>Room is reserved when a message is claimed, and its place is found when it is sent, for
 * messages may be sent in another order than they were claimed in, or be shorter than claimed. In a
 * {@linkplain Mapping#PLAIN plain} ring nobody knows before how much of it is lost at the ring's
 * end; so the worst case is reserved, unless the message can only be the next one.
 *
 * <p><b>Acknowledgments never lack a receive.</b> Each one acknowledges at least one message more
 * than the one before it, which {@link #takeAck} sees to. So for each acknowledgment that is under
 * way there is a message that is not yet acknowledged as far as this side knows, and a different
 * one for each; and of those there are at most as many as the window allows. A sender that has a
 * receive posted for each message of the window, beside those for a goodbye and a want, needs no
 * credits for acknowledgments, provided that the receive that one took up is posted again before
 * {@link #takeAck} is called: what that call makes room for may be sent, freed and acknowledged
 * before it returns.
 *
 * <p><b>Threads:</b> whoever polls the receive queue calls {@link #takeAck}, {@link #takeNumbers}
 * and {@link #takeWants}, one thread at a time. {@link #payloadBytes} and {@link #ringBytes} may be
 * called by any thread. All else is for the send queue's lock.
 */
public final class RingSpace {

  private final long size;
  private final Mapping mapping;
  private final int window;
  private final int longest;
  private final RingCursor tail; // under the lock
  private final int mask;
  private final long[] ends; // position behind each message; under the lock, before sent
  private int reservedMessages; // under the lock
  private long reservedBytes; // under the lock: the worst case of all that is reserved

  /** Not in vain: what was acknowledged since may have made room. */
  private volatile boolean lacksRoom; // under the lock; cleared by whoever polls

  private volatile int wantsSent; // under the lock
  private volatile long ackedAtWant = -1; // under the lock: messages, when the last one was sent
  private volatile int wantsTaken; // by whoever polls

  // Counters that only grow, each of which is written by one thread at a time. They are only
  // released, as a full fence for each would cost more than the rest.
  private final AtomicLong sent = new AtomicLong(); // under the lock, after all else of a message
  private final AtomicLong tailBytes = new AtomicLong(); // under the lock
  private final AtomicLong payload = new AtomicLong(); // under the lock
  private final AtomicLong ackedMessages = new AtomicLong(); // by whoever polls
  private final AtomicLong ackedBytes = new AtomicLong(); // by whoever polls, before the messages

  /**
   * Begins with an empty ring.
   *
   * @param size its size in bytes
   * @param mapping how the receiver has mapped it
   * @param window how many messages may be unacknowledged
   * @throws IllegalArgumentException if one of them is out of range
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

  /**
   * Returns the longest message that the ring takes.
   *
   * @return the limit in bytes
   */
  public int longest() {
    return longest;
  }

  /**
   * Takes room for a message, if there is any.
   *
   * @param length its length in bytes, at most; from 0 to {@link #longest}
   * @return whether there was
   */
  public boolean tryReserve(int length) {
    boolean done = reserve(length);
    boolean lacks = !done && !isAllBack(); // else it is this side that has it all
    if (lacks != lacksRoom) {
      lacksRoom = lacks;
    }
    return done;
  }

  private boolean reserve(int length) {
    if (length < 0 || length > longest) {
      throw new IllegalArgumentException(
          "a message of " + length + " bytes for a ring that takes " + longest);
    }
    if (sent.getPlain() + reservedMessages - ackedMessages.getAcquire() >= window) {
      return false;
    }
    long free = size - (tail.position() - ackedBytes.getAcquire());
    long worst = mapping.worstCase(length);
    // Nothing that moves the tail can be sent before this one if nothing else is reserved; and if
    // more is reserved later, then because there is room for the worst case of all.
    long need = reservedBytes == 0 ? tail.costOf(length) : reservedBytes + worst;
    if (need > free) {
      return false;
    }
    reservedMessages++;
    reservedBytes += worst;
    return true;
  }

  /**
   * Gives back the room of a message that is not sent.
   *
   * @param length the length that it was reserved for
   */
  public void unreserve(int length) {
    long bytes = reservedBytes - mapping.worstCase(length);
    if (reservedMessages == 0 || bytes < 0) {
      throw new IllegalStateException("room for " + length + " bytes is not reserved");
    }
    reservedMessages--;
    reservedBytes = bytes;
  }

  /**
   * Puts a message behind those before it, and gives back what was reserved too much for it.
   *
   * @param reservedLength the length that its room was reserved for
   * @param actualLength its length in bytes
   * @return the offset in the ring that it is to be written to
   */
  public long place(int reservedLength, int actualLength) {
    if (actualLength < 0 || actualLength > reservedLength) {
      throw new IllegalArgumentException(
          "a message of " + actualLength + " bytes where " + reservedLength + " are reserved");
    }
    unreserve(reservedLength);
    long offset = tail.advance(actualLength);
    long number = sent.getPlain();
    ends[(int) number & mask] = tail.position();
    tailBytes.setRelease(tail.position());
    payload.setRelease(payload.getPlain() + actualLength);
    sent.setRelease(number + 1);
    return offset;
  }

  /**
   * Takes in an acknowledgment.
   *
   * @param messagesFreed how many messages the receiver has freed, ever
   * @param bytesFreed how many bytes of the ring it has freed with them, ever
   * @return what is wrong with it, as a sentence about the peer; null if nothing is
   */
  public @Nullable String takeAck(long messagesFreed, long bytesFreed) {
    long acked = ackedMessages.getPlain();
    return messagesFreed == acked
        ? "it acknowledged once more the " + acked + " messages that were acknowledged before"
        : take(messagesFreed, bytesFreed);
  }

  /**
   * Takes in the numbers of another control message, which may be those of the last one once more.
   *
   * @param messagesFreed how many messages the receiver has freed, ever
   * @param bytesFreed how many bytes of the ring it has freed with them, ever
   * @return what is wrong with it, as a sentence about the peer; null if nothing is
   */
  public @Nullable String takeNumbers(long messagesFreed, long bytesFreed) {
    return take(messagesFreed, bytesFreed);
  }

  private @Nullable String take(long messagesFreed, long bytesFreed) {
    long acked = ackedMessages.getPlain();
    long known = sent.getAcquire();
    if (messagesFreed < acked) {
      return "it acknowledged " + messagesFreed + " messages after it had acknowledged " + acked;
    }
    if (messagesFreed > known) {
      return "it acknowledged " + messagesFreed + " messages, but only " + known + " were sent";
    }
    // The end of the last acknowledged message may have been replaced; of those behind it, none.
    long end =
        messagesFreed == acked ? ackedBytes.getPlain() : ends[(int) (messagesFreed - 1) & mask];
    if (bytesFreed != end) {
      return "it acknowledged %d bytes with %d messages, which took %d"
          .formatted(bytesFreed, messagesFreed, end);
    }
    if (messagesFreed > acked) {
      // Before what makes room is known: whoever finds none from now on says so anew.
      lacksRoom = false;
    }
    ackedBytes.setRelease(bytesFreed);
    ackedMessages.setRelease(messagesFreed);
    return null;
  }

  /**
   * Tells whether the receiver is to be told that room is wanted: that there was none since the
   * last acknowledgment; that the last want was taken, for the receiver has a receive for one; and
   * that something was acknowledged since, for until then the receiver knows. Without the latter
   * two sides that both lack room would go on telling each other for ever, as each want says that
   * the other side's was taken.
   *
   * @return whether it is
   */
  public boolean isWantDue() {
    return lacksRoom && wantsSent == wantsTaken && ackedMessages.getAcquire() > ackedAtWant;
  }

  /** A want is sent. Under the lock, and only if one {@linkplain #isWantDue is due}. */
  @SuppressWarnings("NonAtomicOperationOnVolatileField") // under the lock
  public void wantSent() {
    ackedAtWant = ackedMessages.getAcquire();
    wantsSent++;
  }

  /**
   * Takes in how many wants the receiver has taken.
   *
   * @param taken the number, ever
   * @return what is wrong with it, as a sentence about the peer; null if nothing is
   */
  public @Nullable String takeWants(int taken) {
    int known = wantsTaken;
    if (taken != known && (taken != known + 1 || known == wantsSent)) {
      return "it has taken %s wants, but %s were sent"
          .formatted(Integer.toUnsignedString(taken), Integer.toUnsignedString(wantsSent));
    }
    wantsTaken = taken;
    return null;
  }

  /**
   * Tells whether everything that was sent is acknowledged, so that there is nothing to wait for:
   * what is not free then is reserved by this side.
   *
   * @return whether it is
   */
  public boolean isAllBack() {
    return ackedMessages.getAcquire() == sent.getPlain();
  }

  /**
   * Returns how many bytes the messages had that were sent.
   *
   * @return the number of bytes
   */
  public long payloadBytes() {
    return payload.getAcquire();
  }

  /**
   * Returns how many bytes of the ring they took, with what was lost at the ring's end and to the
   * alignment.
   *
   * @return the number of bytes
   */
  public long ringBytes() {
    return tailBytes.getAcquire();
  }
}
