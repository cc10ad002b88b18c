// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.ring.ConcurrentRingProducer;
import dev.ferrule.spi.Waiter;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A thread that waits for room while others may do so as well; another thread the next time. */
final class RoomWaiter implements Waiter.Condition {

  /** A thread that does not sleep looks so many times before it asks whether all is in vain. */
  private static final int LOOKS = 256;

  /**
   * A thread that has made room for others may stop for ever before it wakes them up. So they look
   * again by themselves, at times.
   */
  private static final long LONGEST_SLEEP_NANOS = 100_000_000;

  /** After so long without any progress, nobody is believed to make some yet. */
  private static final long VAIN_NANOS = 500_000_000;

  private static final long NEVER = -1;

  private final SmConcurrentSender sender;
  private final Waiter waiter;
  private final AtomicBoolean busy = new AtomicBoolean(true);
  private final @Nullable RoomWaiter next;

  private int wantedLength;
  private int wantedLine;
  private boolean armed;
  private int looks;
  private long vainProgress; // when it was first in vain, or NEVER
  private long vainSince;
  private volatile @Nullable Thread waiting; // with nothing but room that ends it

  /**
   * Creates a waiter for the thread that creates it.
   *
   * @param next the rest of all that there are
   */
  RoomWaiter(SmConcurrentSender sender, WaitStrategy wait, @Nullable RoomWaiter next) {
    this.sender = sender;
    this.waiter = new Waiter(wait, SmConnection.SECOND_LOOK_NANOS, LONGEST_SLEEP_NANOS);
    this.next = next;
  }

  @Nullable RoomWaiter next() {
    return next;
  }

  /** Takes the waiter for this thread, unless another has it. */
  boolean take() {
    return !busy.get() && busy.compareAndSet(false, true);
  }

  void giveBack() {
    busy.set(false);
  }

  /** Waits; returns the line that was reserved, or FULL after the deadline. */
  int await(int length, boolean bounded, long deadline) {
    wantedLength = length;
    wantedLine = ConcurrentRingProducer.FULL;
    armed = false;
    looks = 0;
    vainProgress = NEVER;
    waiting = bounded ? null : Thread.currentThread();
    try {
      return waiter.await(this, bounded, deadline) ? wantedLine : ConcurrentRingProducer.FULL;
    } finally {
      waiting = null;
    }
  }

  /** Whether a thread waits here, and for nothing but room. */
  boolean isStuck(Thread thread) {
    return waiting == thread;
  }

  @Override
  public boolean isReady() {
    wantedLine = sender.reserveIfOpen(wantedLength);
    if (wantedLine != ConcurrentRingProducer.FULL) {
      return true;
    }
    looks++;
    if (armed || looks % LOOKS == 0) {
      checkNotInVain();
    }
    return false;
  }

  /**
   * Throws if this has been in vain for a while in which nothing has happened. At first it may only
   * look so: another thread that waits may have been woken up, and not have run yet; or one that is
   * to send what this one has claimed may not have begun.
   */
  private void checkNotInVain() {
    if (!sender.isInVain(wantedLength)) {
      vainProgress = NEVER;
      return;
    }
    long progress = sender.progress();
    long now = System.nanoTime();
    if (progress != vainProgress) {
      vainProgress = progress;
      vainSince = now;
    } else if (now - vainSince > VAIN_NANOS) {
      throw new IllegalStateException(
          "this program has claimed all the room that there is, and every thread that has waits"
              + " for more; send or abort some regions before claiming more");
    }
  }

  @Override
  public void arm() {
    armed = true;
    sender.armSleep();
  }

  @Override
  public boolean isArmed() {
    return sender.isSleepArmed();
  }

  /** Not taken back: another thread may rely on it. If none does, one wake-up is for nothing. */
  @Override
  public void disarm() {
    armed = false;
  }

  @Override
  public RuntimeException interrupted() {
    return sender.interrupted();
  }

  void wake() {
    waiter.wake();
  }

  long sleeps() {
    return waiter.sleeps();
  }
}
