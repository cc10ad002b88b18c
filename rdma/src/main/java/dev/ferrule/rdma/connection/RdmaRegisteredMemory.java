// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.rdma.queue.OneSidedOperations;
import dev.ferrule.support.Registrations;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Registered memory of the program, which the device accesses directly. */
final class RdmaRegisteredMemory implements RegisteredMemory, OneSidedOperations.Source {

  private final RdmaRegistrations registrations;
  private final MemorySegment segment;
  private final MemoryRegion region;
  private final AtomicLong lastUse = new AtomicLong();
  private final AtomicInteger unposted = new AtomicInteger();
  private volatile boolean accessed;
  private volatile boolean closed;

  RdmaRegisteredMemory(
      RdmaRegistrations registrations, ProtectionDomain domain, MemorySegment segment) {
    Registrations.check(segment);
    this.registrations = registrations;
    this.segment = segment;
    // an RDMA READ writes to it
    this.region = domain.register(segment, segment.isReadOnly() ? 0 : AccessFlags.LOCAL_WRITE);
  }

  boolean belongsTo(RdmaRegistrations candidate) {
    return registrations == candidate;
  }

  /** Throws if the memory may no longer be used. */
  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the registration was closed");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the memory has been freed while it was registered");
    }
  }

  @Override
  public boolean isUsable() {
    return !closed;
  }

  @Override
  public int localKey() {
    return region.localKey();
  }

  /**
   * Announces a message from it that will be posted, or throws if it may no longer be used. By any
   * sender. The announcement precedes the check, and {@link #close} reads in the opposite order: it
   * waits for the message, or the message is refused.
   */
  void stage() {
    unposted.incrementAndGet();
    boolean open = false;
    try {
      checkOpen();
      open = true;
    } finally {
      if (!open) {
        unposted.decrementAndGet();
      }
    }
  }

  /**
   * Records that a message announced by {@link #stage} is posted, by its number in the send queue
   * or that of a later one. Another sender may have recorded a later message.
   */
  void posted(long number) {
    long ignored = lastUse.accumulateAndGet(number, Math::max);
    unposted.decrementAndGet(); // after the number, which close() reads when there is none left
  }

  /** Marks it as used for remote memory access. */
  void accessed() {
    if (!accessed) {
      accessed = true;
    }
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (!registrations.awaitPosted(unposted)) {
        closed = false;
        throw new IllegalStateException(
            "a message from the registered memory is staged: flush it before closing the"
                + " registration");
      }
      registrations.awaitUnused(lastUse.get(), accessed);
      deregister();
      registrations.forget(this);
    }
  }

  void deregister() {
    closed = true;
    region.close();
  }
}
