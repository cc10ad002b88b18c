// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The lock for writing records: a chain of {@link LockTenure}s, the last of which is in force. A
 * thread that takes the lock many times in a row becomes its owner, until another thread requests
 * it. A thread that waits for too long revokes the lock from its holder.
 */
final class RecordLock {

  /**
   * Determines how the lock passes between threads. A thread waits for the holder until both the
   * pauses and the time have elapsed, since time also elapses while the whole process is stopped.
   *
   * @param looks the number of checks without a pause
   * @param pauses the number of checks after a pause
   * @param nanos the total time
   * @param streak how often a thread takes the lock in a row before it owns it, initially
   */
  record Policy(int looks, int pauses, long nanos, int streak) {

    /** Enough time for a holder that competes with some other threads for its processor. */
    static final Policy ORDINARY = new Policy(200, 500, 50_000_000, 100);
  }

  private static final VarHandle CURRENT;

  static {
    try {
      CURRENT = MethodHandles.lookup().findVarHandle(RecordLock.class, "current", LockTenure.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Maximum factor of the streak's growth. */
  private static final int MAX_GROWTH = 1_024;

  /** An ownership that lasts for this many messages has paid off. */
  private static final int WORTH = 1_000;

  private static final int YIELDS = 20;
  private static final long PAUSE_NANOS = 50_000;

  private final SendingEnd end;
  private final Policy policy;
  private final Runnable checkOpen;
  private volatile LockTenure current;
  private volatile int ownAfter; // a streak; a race costs at most one step

  /**
   * Creates a free lock.
   *
   * @param epoch the epoch that it protects at first
   * @param checkOpen run by a waiting thread; throws when the connection has ended
   */
  RecordLock(SendingEnd end, Epoch epoch, Policy policy, Runnable checkOpen) {
    this.end = end;
    this.policy = policy;
    this.ownAfter = policy.streak();
    this.checkOpen = checkOpen;
    this.current = new LockTenure(epoch, null);
  }

  /** Returns the epoch in force. */
  Epoch epoch() {
    return current.epoch();
  }

  /**
   * Takes the lock, waiting for it if necessary.
   *
   * @return the tenure that holds it, to be {@linkplain LockTenure#leave left}
   */
  LockTenure enter() {
    LockTenure tenure = current;
    return tenure.hasOwner() && tenure.tryEnter() ? tenure : enterInTurn();
  }

  private LockTenure enterInTurn() {
    while (true) {
      LockTenure tenure = current;
      if (tenure.isClosed() || tenure.isOwnedByAnother()) {
        replace(tenure);
      } else if (!tenure.tryEnter()) {
        awaitFree(tenure);
      } else if (tenure.hasOwner() || tenure.streak() < ownAfter) {
        return tenure;
      } else {
        tenure.leaveToOwn();
        advance(tenure);
      }
    }
  }

  /**
   * Returns how many messages were sent before the epoch that follows a tenure.
   *
   * @param tenure a tenure that was closed
   * @return the number of messages
   */
  long messagesAfter(LockTenure tenure) {
    while (!tenure.hasNext()) {
      replace(tenure);
    }
    return tenure.messagesAfter();
  }

  private void advance(LockTenure tenure) {
    LockTenure next = tenure.next();
    if (next != null) {
      CURRENT.compareAndSet(this, tenure, next);
      tenure.forgetNext();
    }
  }

  /** Closes a tenure, and appends the next one. */
  private void replace(LockTenure tenure) {
    if (!tenure.hasNext()) {
      boolean first = !tenure.isClosed();
      tenure.close();
      end.reached(RingStep.SHARED_LOCK_CLOSED);
      if (first && tenure.hasOwner()) {
        adapt(tenure.messages());
      }
      awaitEnd(tenure);
    }
    advance(tenure);
  }

  /**
   * Makes ownership rarer if the last one did not last, and more frequent if it did. Ending an
   * ownership takes a membarrier, which costs as much as it saves in some hundred messages.
   */
  private void adapt(long messages) {
    int now = ownAfter;
    ownAfter =
        messages < WORTH
            ? Math.min(MAX_GROWTH * policy.streak(), 2 * now)
            : Math.max(policy.streak(), now / 2);
  }

  private void awaitEnd(LockTenure tenure) {
    while (!tenure.hasNext()) {
      int seen = tenure.holds();
      boolean follows;
      if ((seen & 1) == 0) {
        follows = tenure.passOn();
      } else if (awaitLeft(tenure, seen)) {
        continue;
      } else {
        end.reached(RingStep.SHARED_OUT_OF_PATIENCE);
        follows = tenure.cutOff();
      }
      if (!follows) { // there was no memory for the next epoch
        checkOpen.run();
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private void awaitFree(LockTenure tenure) {
    int seen = tenure.holds();
    if ((seen & 1) != 0 && !awaitLeft(tenure, seen)) {
      replace(tenure);
    }
  }

  /** Waits until a thread has left the lock; returns whether it did within the policy's limits. */
  private boolean awaitLeft(LockTenure tenure, int seen) {
    for (int look = 0; look < policy.looks(); look++) {
      if (tenure.holds() != seen) {
        return true;
      }
      Thread.onSpinWait();
    }
    long start = System.nanoTime();
    for (int pause = 0;
        pause < policy.pauses() || System.nanoTime() - start < policy.nanos();
        pause++) {
      checkOpen.run();
      if (pause < YIELDS) {
        Thread.yield();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      if (tenure.holds() != seen || tenure.hasNext()) {
        return true;
      }
    }
    return false;
  }
}
