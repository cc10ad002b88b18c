// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.ring.RingLayout.INT;

import dev.ferrule.posix.Futex;
import dev.ferrule.posix.Membarrier;
import dev.ferrule.posix.RawMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Puts a receiver to sleep until there is a message. The flag in the connection's first ring
 * announces the sleep to the senders of all lanes. See {@link SleepFlag} on the barriers.
 *
 * <p>Not thread-safe, except {@link #isArmed} and {@link #end}.
 */
public final class ReceiverSleep {

  /** After this many messages without a sleep, the receiver no longer requests fences. */
  private static final int MESSAGES_WITHOUT_SLEEP = 4096;

  private static final int MAX_NUMBER = Integer.MAX_VALUE - 3;

  private final long ring; // the address
  private final boolean fences;
  private final Futex flag;
  private int number; // the flag's last value
  private int armed; // the value of the last arm, with the kind of sleep
  private boolean requestsFences; // whether the senders must run fences
  private boolean reliesOnFences; // whether the senders are certain to run them
  private boolean isSure; // whether the senders are certain to see the last arm
  private int messages; // since the last sleep

  /**
   * Creates an instance that does not sleep.
   *
   * @param first the connection's first ring
   * @param fences whether membarrier(2) must not be relied on
   */
  public ReceiverSleep(MemorySegment first, boolean fences) {
    this.ring = RawMemory.address(first);
    this.fences = fences;
    this.flag = new Futex(first.asSlice(RingLayout.RECEIVER_ASLEEP, Integer.BYTES));
  }

  /** {@return whether membarrier(2) must not be relied on} */
  public boolean fences() {
    return fences;
  }

  /**
   * Announces that this side goes to sleep until there is a message. The caller must check all
   * lanes once more before it sleeps.
   *
   * @param onFlag whether it sleeps by {@link #await}
   */
  public void arm(boolean onFlag) {
    RingTestHook.reached(RingTestPoint.SLEEP_BEGINS);
    armed = nextNumber() | (onFlag ? SleepFlag.ON_FLAG : 0);
    isSure = fences || reliesOnFences;
    if (!isSure) {
      SleepFlag.setSenderFences(ring, true);
      requestsFences = true;
    }
    SleepFlag.arm(ring, RingLayout.RECEIVER_ASLEEP, armed, isSure);
    messages = 0;
    RingTestHook.reached(RingTestPoint.SLEEP_ANNOUNCED);
  }

  /** As {@link #arm}, but without the barrier: one suffices for many connections. */
  public void armWithoutBarrier() {
    RingTestHook.reached(RingTestPoint.SLEEP_BEGINS);
    INT.setOpaque(ALL, ring + RingLayout.RECEIVER_ASLEEP, nextNumber());
    RingTestHook.reached(RingTestPoint.SLEEP_ANNOUNCED);
  }

  /** Runs the barrier that must follow {@link #armWithoutBarrier}. */
  public static void barrier() {
    VarHandle.fullFence(); // for processes that are not registered
    if (Membarrier.REGISTERED) {
      Membarrier.global();
    }
  }

  /**
   * Returns a different positive even number each time, so that the wake-up of one sleep does not
   * end the next.
   */
  private int nextNumber() {
    number = number >= MAX_NUMBER ? 2 : number + 2;
    return number;
  }

  /**
   * {@return whether the senders are certain to see the last {@link #arm}, so that no second check
   * is needed}
   */
  public boolean isSure() {
    return isSure;
  }

  /**
   * Called when an {@link #arm} that is not {@linkplain #isSure sure} has been in force for the
   * delay of the second check. All that senders published without checking the flag is visible by
   * now, so later sleeps may rely on the senders' fences.
   */
  public void onDelayPassed() {
    reliesOnFences = true;
  }

  /**
   * Counts messages that were received without a sleep since the last call.
   *
   * @param count the number of messages
   */
  public void received(int count) {
    if (requestsFences) {
      messages += count;
      if (messages > MESSAGES_WITHOUT_SLEEP) {
        requestsFences = false;
        reliesOnFences = false;
        SleepFlag.setSenderFences(ring, false);
      }
    }
  }

  /**
   * Sleeps as announced by {@link #arm}, until a sender wakes this side or {@link #end} is called;
   * may return spuriously.
   *
   * @param nanos the timeout; {@link Long#MAX_VALUE} means none
   */
  public void await(long nanos) {
    flag.await(armed, nanos);
  }

  /** Wakes the thread that sleeps by {@link #await}, or is about to. */
  public void end() {
    flag.release();
  }

  /** {@return whether {@link #arm} is still in force: no sender has woken this side yet} */
  public boolean isArmed() {
    boolean result = SleepFlag.isArmed(ring, RingLayout.RECEIVER_ASLEEP);
    RingTestHook.reached(RingTestPoint.SLEEP_CHECKED);
    return result;
  }

  /** Revokes {@link #arm}. */
  public void disarm() {
    RingTestHook.reached(RingTestPoint.SLEEP_ENDS);
    SleepFlag.disarm(ring, RingLayout.RECEIVER_ASLEEP);
  }
}
