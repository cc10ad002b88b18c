// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.ring.ConcurrentRingProducer;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The threads that wait for room on one connection: a lock-free list that only grows, up to the
 * maximum number of threads that waited at the same time.
 */
final class RoomWaiters implements ConcurrentRingProducer.Waiters {

  private final SmConcurrentSender sender;
  private final WaitStrategy wait;
  private final AtomicReference<@Nullable RoomWaiter> first = new AtomicReference<>();

  RoomWaiters(SmConcurrentSender sender, WaitStrategy wait) {
    this.sender = sender;
    this.wait = wait;
  }

  int await(int length, boolean bounded, long deadline) {
    RoomWaiter waiter = take();
    try {
      return waiter.await(length, bounded, deadline);
    } finally {
      waiter.giveBack();
    }
  }

  long awaitSend(MemorySegment source, long offset, int length) {
    RoomWaiter waiter = take();
    try {
      return waiter.awaitSend(source, offset, length);
    } finally {
      waiter.giveBack();
    }
  }

  private RoomWaiter take() {
    RoomWaiter head = first.get();
    for (RoomWaiter each = head; each != null; each = each.next()) {
      if (each.take()) {
        return each;
      }
    }
    while (true) {
      RoomWaiter added = new RoomWaiter(sender, wait, head);
      if (first.compareAndSet(head, added)) {
        return added;
      }
      head = first.get();
    }
  }

  /** Returns whether a thread waits, and only for room. */
  boolean isStuck(Thread thread) {
    for (RoomWaiter each = first.get(); each != null; each = each.next()) {
      if (each.isStuck(thread)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void checkOpen() {
    sender.checkConnected();
  }

  @Override
  public void wake() {
    for (RoomWaiter each = first.get(); each != null; each = each.next()) {
      each.wake();
    }
  }

  long sleeps() {
    long sum = 0;
    for (RoomWaiter each = first.get(); each != null; each = each.next()) {
      sum += each.sleeps();
    }
    return sum;
  }
}
