// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;

import dev.ferrule.sm.os.Futex;
import dev.ferrule.sm.os.RawMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * What the sending ends of a ring have in common, be they for one thread or for several: what they
 * tell the receiver of themselves.
 */
public abstract class SendingEnd {

  /** Not on the flag: several threads may wait for room. */
  private static final int SENDER_SLEEPS = 2;

  final long ring; // the address
  final long buffer; // the address
  private final MemorySegment ringView;
  private final MemorySegment bufferView;
  final boolean fences;

  SendingEnd(MemorySegment ring, MemorySegment buffer, boolean fences) {
    this.ring = RawMemory.address(ring);
    this.buffer = RawMemory.address(buffer);
    this.ringView = ring;
    this.bufferView = buffer;
    this.fences = fences;
  }

  /**
   * Called when a thread that sends has got to a step. Does nothing, and costs nothing; tests stop
   * here.
   *
   * @param step where the thread is
   */
  protected void reached(RingStep step) {}

  /**
   * Returns how many messages were published, ever.
   *
   * @return the number of messages; where several threads send, the last one's may be told a moment
   *     late
   */
  public abstract long messagesPublished();

  /**
   * Returns the ring.
   *
   * @return the memory in which {@link RingProducer#claim} finds a place
   */
  public final MemorySegment ring() {
    return ringView;
  }

  /**
   * Returns the payload lines.
   *
   * @return the memory in which a reserved line lies at its number times {@link RingLayout#LINE}
   */
  public final MemorySegment buffer() {
    return bufferView;
  }

  /**
   * Copies a message to payload lines.
   *
   * @param source holds the message
   * @param offset where in it the message starts
   * @param line the first line, which is reserved
   * @param skip how many bytes of it to leave out
   * @param length the message's length in bytes
   */
  public final void write(MemorySegment source, long offset, int line, int skip, int length) {
    long place = buffer + (long) line * RingLayout.LINE + skip;
    RawMemory.copy(source, offset, place, length);
  }

  /**
   * Returns whether a receiver is woken by {@link #wakeReceiver}, and not by its endpoint's thread.
   *
   * @param flag by what it sleeps, not 0
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
   * Says that a thread of this side goes to sleep until there is room; a last look has to follow
   * before it does.
   */
  public final void armSleep() {
    SleepFlag.arm(ring, RingLayout.SENDER_ASLEEP, SENDER_SLEEPS, fences);
  }

  /**
   * Tells whether {@link #armSleep} is still in force: the other side has not answered it yet.
   *
   * @return whether it is
   */
  public final boolean isSleepArmed() {
    return SleepFlag.isArmed(ring, RingLayout.SENDER_ASLEEP);
  }

  /**
   * Tells the receiver that the last message was published.
   *
   * @param reason why the connection ends; not 0
   */
  public final void markClosed(int reason) {
    INT.setRelease(ALL, ring + RingLayout.SENDER_CLOSED, reason);
    VarHandle.fullFence();
  }
}
