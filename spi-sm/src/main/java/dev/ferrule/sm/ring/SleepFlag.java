// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.posix.Membarrier;
import dev.ferrule.posix.RawMemory;
import java.lang.invoke.VarHandle;

/**
 * The flag by which one side announces that it sleeps. The other side checks it after each
 * publication.
 *
 * <p>It is a Dekker-style store–load handshake: the sleeper stores the flag and then loads the
 * ring, the waker stores to the ring and then loads the flag. Each store must be ordered before the
 * load that follows it; otherwise both sides may miss each other, and the sleeper sleeps forever.
 * The order requires a store–load fence on both sides, or a membarrier(2) on the sleeper's side
 * alone. The membarrier is preferred: sleeps are rare, but the waker checks at every message. A
 * receiver that sleeps often has the sender run fences again: a membarrier interrupts the sender's
 * processor, and requires a second check after some time, for which the kernel must set a timer.
 */
final class SleepFlag {

  /**
   * A bit of the value: the thread sleeps on the flag itself, as on a {@link
   * dev.ferrule.posix.Futex}. Otherwise its endpoint's thread wakes it.
   */
  static final int ON_FLAG = 1;

  /**
   * A bit of the value, set by a sender that is about to wake the thread: the thread must not go to
   * sleep on the flag. No sleep's number has this bit.
   */
  static final int WOKEN = 1 << 31;

  private SleepFlag() {}

  /** Announces that this side sleeps, by a value other than 0. */
  static void arm(long ring, long offset, int number, boolean fences) {
    INT.setOpaque(ALL, ring + offset, number);
    if (fences) {
      VarHandle.fullFence();
    } else {
      Membarrier.global();
    }
  }

  static void disarm(long ring, long offset) {
    INT.setOpaque(ALL, ring + offset, 0);
  }

  static boolean isArmed(long ring, long offset) {
    return (int) INT.getOpaque(ALL, ring + offset) != 0;
  }

  /**
   * Clears the flag of a sleeping other side. Returns the flag's value, once for each sleep; 0 if
   * the other side is awake.
   */
  static int wake(long ring, long offset, boolean fences) {
    return look(ring, offset, fences) == 0 ? 0 : (int) INT.getAndSet(ALL, ring + offset, 0);
  }

  /** Returns the receiver's flag; 0 if it is awake. It may rely on a fence of the sender. */
  static int lookAtReceiver(long ring, boolean fences) {
    orderStores(fences);
    // the flag, and in the other half whether a fence is required
    long both = (long) LONG.getOpaque(ALL, RawMemory.word(ring + RingLayout.RECEIVER_ASLEEP));
    return both == 0 ? 0 : look(ring, RingLayout.RECEIVER_ASLEEP, true);
  }

  /** Sets whether the sender must run a fence from now on. */
  static void setSenderFences(long ring, boolean value) {
    INT.setOpaque(ALL, ring + RingLayout.SENDER_FENCES, value ? 1 : 0);
  }

  /** Returns the other side's flag; 0 if it is awake. */
  private static int look(long ring, long offset, boolean fences) {
    orderStores(fences);
    return (int) INT.getOpaque(ALL, RawMemory.word(ring + offset));
  }

  private static void orderStores(boolean fences) {
    if (fences) {
      VarHandle.fullFence();
    } else {
      // no instruction on x86; prevents the compiler from hoisting the load above the store
      VarHandle.releaseFence();
    }
  }

  /** Changes the other side's flag, unless it has changed, as by a later sleep. */
  static void exchange(long ring, long offset, int from, int to) {
    INT.compareAndSet(ALL, ring + offset, from, to);
  }
}
