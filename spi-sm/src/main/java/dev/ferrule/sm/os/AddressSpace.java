// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * How much address space the connections of this process take. Memory of a closed connection waits
 * for the garbage collector to be unmapped, which has no reason of its own to run. It is run when
 * there is no room, but only if something waits, and at most once a second: what a peer asks for
 * decides how often there is no room.
 */
final class AddressSpace {

  static final AddressSpace OF_PROCESS = new AddressSpace(AddressSpace::collect, System::nanoTime);

  /** Time allowed for the garbage collector to unmap memory. */
  private static final long COLLECTION_NANOS = 50_000_000;

  private static final long BETWEEN_COLLECTIONS_NANOS = 1_000_000_000;

  private final Runnable collection;
  private final LongSupplier nanoTime;
  private final AtomicLong mapped = new AtomicLong(); // bytes
  private final AtomicLong waiting = new AtomicLong(); // of them, bytes of closed connections
  private final AtomicLong nextCollection; // by nanoTime

  AddressSpace(Runnable collection, LongSupplier nanoTime) {
    this.collection = collection;
    this.nanoTime = nanoTime;
    this.nextCollection = new AtomicLong(nanoTime.getAsLong());
  }

  private static void collect() {
    System.gc();
    LockSupport.parkNanos(COLLECTION_NANOS);
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
      if (all - waiting.get() + size <= limit && makeRoom()) {
        continue;
      }
      throw new PosixException(
          "mmap", subject + ", where all connections have " + all + " of " + limit, LibC.ENOMEM());
    }
  }

  private boolean tryToAdd(long size, long limit) {
    if (mapped.addAndGet(size) <= limit) {
      return true;
    }
    mapped.addAndGet(-size);
    return false;
  }

  /** Counts the end of a mapping, whose connection had been closed or not. */
  void remove(long size, boolean wasWaiting) {
    mapped.addAndGet(-size);
    if (wasWaiting) {
      waiting.addAndGet(-size);
    }
  }

  /** Counts a mapping that nothing but the garbage collector keeps from being unmapped. */
  void await(long size) {
    waiting.addAndGet(size);
  }

  /**
   * Runs the garbage collector, if that may unmap something and it has not just run.
   *
   * @return whether there may be more room now
   */
  boolean makeRoom() {
    long next = nextCollection.get();
    long now = nanoTime.getAsLong();
    if (waiting.get() == 0
        || now - next < 0
        || !nextCollection.compareAndSet(next, now + BETWEEN_COLLECTIONS_NANOS)) {
      return false;
    }
    collection.run();
    return true;
  }
}
