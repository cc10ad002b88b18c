// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.support.AbstractSendRegion;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A region of a sender for several threads: the payload lines from one line on. It belongs to the
 * thread that has claimed that line, and the program holds it while it has an owner.
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
    lend(lines, (long) line * RingLayout.LINE, length);
    owner = Thread.currentThread();
  }

  /**
   * Takes the region from the program; succeeds for one of several threads.
   *
   * @return the thread that has claimed the region
   */
  Thread take() {
    checkLent();
    Thread claimant = (Thread) OWNER.getAndSet(this, null);
    if (claimant == null) {
      throw new IllegalStateException("another thread is sending or aborting the region");
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

  /** Returns the thread that has claimed the region; null if the program does not hold it. */
  @Nullable Thread owner() {
    return owner;
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
