// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;
import static dev.ferrule.sm.ring.RingLayout.LONG;

import dev.ferrule.sm.os.Membarrier;
import dev.ferrule.sm.os.RawMemory;
import java.lang.invoke.VarHandle;

/**
 * The flag by which one side says that it sleeps, and the other finds out after it has published
 * something.
 *
 * <p>It is the classic pair: the sleeper stores the flag and then looks at the ring, the waker
 * stores to the ring and then looks at the flag; each store must be ordered before the load behind
 * it, or both miss each other and the sleeper sleeps for ever. That takes a store-load fence on
 * both sides, or, as sleeping is rare and waking is asked for at every message, a membarrier on the
 * sleeper's. A receiver that sleeps often has the sender run fences again: a membarrier interrupts
 * the sender's processor, and takes a second look after some time, for which the kernel has to set
 * a timer.
 */
final class SleepFlag {

  /**
   * A bit of the number: the thread sleeps on the flag itself, as on a {@link
   * dev.ferrule.sm.os.Futex}. Otherwise it is woken by its endpoint's thread.
   */
  static final int ON_FLAG = 1;

  private SleepFlag() {}

  /** Says that this side sleeps, by any number but 0. */
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
   * By which number the other side sleeps, which it is told once for each time that it went to
   * sleep; 0 if it does not.
   */
  static int wake(long ring, long offset, boolean fences) {
    return look(ring, offset, fences) == 0 ? 0 : (int) INT.getAndSet(ALL, ring + offset, 0);
  }

  /** The same of a receiver, which may rely on a fence of the sender. */
  static int wakeReceiver(long ring, boolean fences) {
    return lookAtReceiver(ring, fences) == 0
        ? 0
        : (int) INT.getAndSet(ALL, ring + RingLayout.RECEIVER_ASLEEP, 0);
  }

  /** By which number the receiver sleeps; 0 if it does not. */
  static int lookAtReceiver(long ring, boolean fences) {
    orderStores(fences);
    // the flag, and in the other half whether there has to be a fence
    long both = (long) LONG.getOpaque(ALL, RawMemory.word(ring + RingLayout.RECEIVER_ASLEEP));
    return both == 0 ? 0 : look(ring, RingLayout.RECEIVER_ASLEEP, true);
  }

  /** Has the sender run a fence from now on, or not any more. */
  static void setSenderFences(long ring, boolean value) {
    INT.setOpaque(ALL, ring + RingLayout.SENDER_FENCES, value ? 1 : 0);
  }

  /** By which number the other side sleeps; 0 if it does not. */
  private static int look(long ring, long offset, boolean fences) {
    orderStores(fences);
    return (int) INT.getOpaque(ALL, RawMemory.word(ring + offset));
  }

  private static void orderStores(boolean fences) {
    if (fences) {
      VarHandle.fullFence();
    } else {
      // costs no instruction on x86; keeps the compiler from moving the load up before the store
      VarHandle.releaseFence();
    }
  }

  /** Says that the other side was told, unless it has gone to sleep anew since. */
  static void putOut(long ring, long offset, int number) {
    INT.compareAndSet(ALL, ring + offset, number, 0);
  }
}
