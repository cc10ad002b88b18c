// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;

import dev.ferrule.posix.Futex;
import dev.ferrule.posix.RawMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The common part of a ring's sending ends, for one thread or for several: the state that they
 * publish to the receiver.
 */
public abstract class SendingEnd {

  /** Not on the flag: several threads may wait for room. */
  private static final int SENDER_SLEEPS = 2;

  final long ring; // the address
  final long buffer; // the address
  private final MemorySegment recordsView; // no control words, which a program could overwrite
  private final MemorySegment bufferView;
  final boolean fences;

  SendingEnd(RingLayout layout, MemorySegment ring, MemorySegment buffer, boolean fences) {
    this.ring = RawMemory.address(ring);
    this.buffer = RawMemory.address(buffer);
    this.recordsView = ring.asSlice(layout.recordsOffset(), layout.capacity());
    this.bufferView = buffer;
    this.fences = fences;
  }

  /**
   * Called when a sending thread has reached a step. Does nothing, at no cost; tests override it to
   * stop there.
   *
   * @param step the thread's step
   */
  protected void reached(RingStep step) {}

  /**
   * Returns the total number of published messages.
   *
   * @return the number of messages; where several threads send, the last message may be counted
   *     with a delay
   */
  public abstract long messagesPublished();

  /**
   * Returns the records.
   *
   * @return the memory in which {@link RingProducer#claim} returns an offset
   */
  public final MemorySegment records() {
    return recordsView;
  }

  /**
   * Returns the payload lines.
   *
   * @return the memory in which a reserved line's offset is its number times {@link
   *     RingLayout#LINE}
   */
  public final MemorySegment buffer() {
    return bufferView;
  }

  /**
   * Copies a message to payload lines.
   *
   * @param source the message's segment
   * @param offset the start of the message in it
   * @param line the first line, which is reserved
   * @param skip the number of leading bytes to omit
   * @param length the message's length in bytes
   */
  public final void write(MemorySegment source, long offset, int line, int skip, int length) {
    long place = buffer + (long) line * RingLayout.LINE + skip;
    RawMemory.copy(source, offset, place, length);
  }

  /**
   * Returns whether a receiver is woken by {@link #wakeReceiver}, and not by its endpoint's thread.
   *
   * @param flag the value of its flag, not 0
   * @return whether it is
   */
  public static boolean isOnFlag(int flag) {
    return (flag & SleepFlag.ON_FLAG) != 0;
  }

  /** Wakes the receiving thread that sleeps on its flag. */
  public final void wakeReceiver() {
    Futex.wake(ring + RingLayout.RECEIVER_ASLEEP);
  }

  /**
   * Announces that a thread of this side goes to sleep until there is room. The caller must check
   * once more before it sleeps.
   */
  public final void armSleep() {
    SleepFlag.arm(ring, RingLayout.SENDER_ASLEEP, SENDER_SLEEPS, fences);
  }

  /**
   * {@return whether {@link #armSleep} is still in force: the receiver has not woken this side yet}
   */
  public final boolean isSleepArmed() {
    return SleepFlag.isArmed(ring, RingLayout.SENDER_ASLEEP);
  }

  /**
   * Notifies the receiver that the last message was published.
   *
   * @param reason why the connection ends; not 0
   */
  public final void markClosed(int reason) {
    INT.setRelease(ALL, ring + RingLayout.SENDER_CLOSED, reason);
    VarHandle.fullFence();
  }
}
