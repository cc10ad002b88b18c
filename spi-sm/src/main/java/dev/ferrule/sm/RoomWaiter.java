// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.ring.ConcurrentRingProducer;
import dev.ferrule.support.Waiter;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A waiter for room, one of several; reused by another thread the next time. */
final class RoomWaiter implements Waiter.Condition {

  /** A thread that polls checks so many times before it checks whether waiting is futile. */
  private static final int LOOKS = 256;

  /**
   * A thread that has made room for others may stop forever before it wakes them. They therefore
   * check again by themselves, at this interval.
   */
  private static final long LONGEST_SLEEP_NANOS = 100_000_000;

  /** Time without any progress after which no thread is expected to make some. */
  private static final long VAIN_NANOS = 500_000_000;

  private static final long NEVER = -1;

  private final SmConcurrentSender sender;
  private final Waiter waiter;
  private final AtomicBoolean busy = new AtomicBoolean(true);
  private final @Nullable RoomWaiter next;

  private int wantedLength;
  private int wantedLine;
  private @Nullable MemorySegment source; // of an inline message to be sent
  private long sourceOffset;
  private long sentId;
  private boolean armed;
  private int looks;
  private long vainProgress; // when waiting was first futile, or NEVER
  private long vainSince;
  private volatile @Nullable Thread waiting; // waits for room only

  /**
   * Creates a waiter for the calling thread.
   *
   * @param next the rest of the list
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

  /** Waits; returns the reserved line, or FULL after the deadline. */
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

  /** Waits until an inline message is sent; returns its id. */
  long awaitSend(MemorySegment message, long offset, int length) {
    source = message;
    sourceOffset = offset;
    wantedLength = length;
    armed = false;
    try {
      boolean ignored = waiter.await(this, false, 0);
      return sentId;
    } finally {
      source = null;
    }
  }

  /** Returns whether a thread waits here, and only for room for a claim. */
  boolean isStuck(Thread thread) {
    return waiting == thread;
  }

  @Override
  public boolean isReady() {
    MemorySegment message = source;
    if (message != null) {
      sentId = sender.trySendIfOpen(message, sourceOffset, wantedLength);
      return sentId != ConcurrentRingProducer.NOT_SENT;
    }
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
   * Throws if waiting has been futile for a while without any progress. At first it may only look
   * so: another waiting thread may have been woken, and not have run yet; or the thread that is to
   * send a claim of this one may not have begun.
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
          "all buffer space is claimed by this program, and every claiming thread waits"
              + " for more; send or abort regions before claiming more");
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

  /** Not revoked: another thread may rely on it. If none does, one wake-up is superfluous. */
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
