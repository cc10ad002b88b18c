// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.spi.AbstractSendRegion;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A region of a sender for several threads: the payload lines from one line on. It belongs to
 * whoever has taken that line, and is lent to the program when it has an owner.
 */
final class SmConcurrentSendRegion extends AbstractSendRegion {

  private static final VarHandle OWNER;

  static {
    try {
      OWNER =
          MethodHandles.lookup().findVarHandle(SmConcurrentSendRegion.class, "owner", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final SmConcurrentSender sender;
  private final int line;
  private volatile @Nullable Thread owner;

  SmConcurrentSendRegion(SmConcurrentSender sender, int line) {
    this.sender = sender;
    this.line = line;
  }

  void lend(MemorySegment lines, int length) {
    lend(lines, (long) line * RingLayout.LINE + RingLayout.SHARED_PREFIX, length);
    owner = Thread.currentThread();
  }

  /**
   * Ends the loan, for one of the threads that try to.
   *
   * @return the thread that has claimed the region
   */
  Thread take() {
    checkLent();
    Thread claimant = (Thread) OWNER.getAndSet(this, null);
    if (claimant == null) {
      throw new IllegalStateException("another thread is just sending or aborting the region");
    }
    takeBack();
    return claimant;
  }

  boolean belongsTo(SmConcurrentSender candidate) {
    return sender == candidate;
  }

  int line() {
    return line;
  }

  /** Who has claimed the region; null if it is not lent. */
  @Nullable Thread owner() {
    return owner;
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
