// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * The address space that the connections of this process take. Memory of a closed connection is
 * unmapped by the garbage collector, which has no reason of its own to run. This class runs it when
 * there is no room, but only if such memory waits, and at most once a second, because peers
 * determine how often there is no room.
 */
final class AddressSpace {

  static final AddressSpace OF_PROCESS = new AddressSpace(System::gc, System::nanoTime);

  /** Time allowed for the mappings that are found unreachable to be removed. */
  private static final long REMOVAL_NANOS = 300_000_000;

  private static final long LOOK_NANOS = 10_000_000;
  private static final long BETWEEN_COLLECTIONS_NANOS = 1_000_000_000;

  private final Runnable collection;
  private final LongSupplier nanoTime;
  private final AtomicLong mapped = new AtomicLong(); // bytes
  private final AtomicLong waiting = new AtomicLong(); // of them, bytes of closed connections
  private volatile int collections; // written under the monitor
  private long nextCollection; // by nanoTime; under the monitor

  AddressSpace(Runnable collection, LongSupplier nanoTime) {
    this.collection = collection;
    this.nanoTime = nanoTime;
    this.nextCollection = nanoTime.getAsLong();
  }

  /**
   * Counts a mapping that is about to be made.
   *
   * @param size its size in bytes
   * @param limit the most that may be mapped
   * @param subject what is mapped, for the exception
   * @throws PosixException ENOMEM if that would exceed the limit
   */
  void add(long size, long limit, String subject) {
    while (!tryToAdd(size, limit)) {
      long all = mapped.get();
      if (all + size <= limit) {
        continue; // meanwhile
      }
      if (all - waiting.get() + size > limit || !makeRoom()) {
        throw new PosixException(
            "mmap",
            subject + "; all connections together take " + all + " of " + limit + " bytes",
            Errno.ENOMEM);
      }
    }
  }

  private boolean tryToAdd(long size, long limit) {
    long all = mapped.get();
    return all + size <= limit && mapped.compareAndSet(all, all + size);
  }

  long mapped() {
    return mapped.get();
  }

  long waiting() {
    return waiting.get();
  }

  /** Counts the removal of a mapping, which may have waited for the garbage collector. */
  void remove(long size, boolean wasWaiting) {
    mapped.addAndGet(-size);
    if (wasWaiting) {
      waiting.addAndGet(-size);
    }
  }

  /** Counts a mapping that waits for the garbage collector from now on. */
  void await(long size) {
    waiting.addAndGet(size);
  }

  /**
   * Runs the garbage collector, if that may remove a mapping and it has not just run. Waits while
   * another thread does so.
   *
   * @return whether there may be more room now
   */
  boolean makeRoom() {
    if (waiting.get() == 0) {
      return false;
    }
    int seen = collections;
    synchronized (this) {
      if (collections != seen) {
        return true; // another thread has made room
      }
      if (nanoTime.getAsLong() - nextCollection < 0) {
        return false;
      }
      long before = waiting.get();
      long begin = System.nanoTime();
      collection.run();
      while (waiting.get() >= before && System.nanoTime() - begin < REMOVAL_NANOS) {
        LockSupport.parkNanos(LOOK_NANOS);
      }
      collections = seen + 1;
      nextCollection = nanoTime.getAsLong() + BETWEEN_COLLECTIONS_NANOS;
      return true;
    }
  }
}
