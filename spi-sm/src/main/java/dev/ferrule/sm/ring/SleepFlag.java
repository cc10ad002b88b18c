// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;

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
 * sleeper's.
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

  /** By which number the other side sleeps; 0 if it does not. */
  static int look(long ring, long offset, boolean fences) {
    if (fences) {
      VarHandle.fullFence();
    } else {
      // costs no instruction on x86; keeps the compiler from moving the load up before the store
      VarHandle.releaseFence();
    }
    return (int) INT.getOpaque(ALL, RawMemory.word(ring + offset));
  }

  /** Says that the other side was told, unless it has gone to sleep anew since. */
  static void putOut(long ring, long offset, int number) {
    INT.compareAndSet(ALL, ring + offset, number, 0);
  }
}
