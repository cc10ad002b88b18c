// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.context.RegistrationCache;
import dev.ferrule.rdma.queue.OneSidedOperations;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.MemoryUse;
import dev.ferrule.support.SharedRegistration;
import dev.ferrule.support.Threads;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The use of registered memory of the program by one connection, for all its senders and its remote
 * memory access. The device accesses the memory directly.
 */
final class RdmaMemoryUse extends MemoryUse implements OneSidedOperations.Source {

  private static final long UNUSED_PAUSE_NANOS = 20_000;

  private final RdmaConnection connection;
  private final SendQueue queue;
  private final RegistrationCache cache;
  private final RegistrationCache.Region region;
  private final int localKey;
  private final AtomicLong lastUse = new AtomicLong();
  private final AtomicInteger unposted = new AtomicInteger();
  private volatile boolean accessed;

  /**
   * Creates a use, and registers the memory with the connection's device, unless it is registered
   * for another connection.
   *
   * @param cache the registrations with the device
   */
  RdmaMemoryUse(
      SharedRegistration memory,
      RdmaConnection connection,
      SendQueue queue,
      RegistrationCache cache) {
    super(memory, connection.life());
    this.connection = connection;
    this.queue = queue;
    this.cache = cache;
    this.region = cache.acquire(memory.segment());
    this.localKey = region.localKey();
  }

  @Override
  public boolean isUsable() {
    return memory().isOpen();
  }

  @Override
  public int localKey() {
    return localKey;
  }

  /**
   * Announces a message that will be posted from the memory; throws if the memory has been closed.
   * By any sender. This method counts the message, then checks for a close; a close is recorded
   * first, then reads the count. So either the close waits for the message, or the message is
   * refused.
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
   * Records that a message announced by {@link #stage} has been posted. The number is that of the
   * message or of a later one in the send queue. Another sender may already have recorded a later
   * one.
   */
  void posted(long number) {
    long ignored = lastUse.accumulateAndGet(number, Math::max);
    unposted.decrementAndGet(); // after the number: a close reads it when no message is unposted
  }

  /** Marks the memory as used for remote memory access. */
  void accessed() {
    if (!accessed) {
      accessed = true;
    }
  }

  @Override
  protected boolean awaitPosted(long start) {
    while (unposted.get() > 0 && queue.accesses().isUsable() && !connection.hasEnded()) {
      if (isLate(start)) {
        return false;
      }
      Threads.pause(UNUSED_PAUSE_NANOS);
    }
    // requests the completion now: waiting for other connections may use up the time
    boolean ignored = queue.isComplete(lastUse.get());
    return true;
  }

  @Override
  protected boolean awaitUnused(long start) {
    long lastMessage = lastUse.get();
    long lastAccess = accessed ? queue.accesses().lastRequest() : 0;
    // continues while another thread closes the connection: the close waits for the same condition
    while (queue.accesses().isUsable() && isUsed(lastMessage, lastAccess)) {
      if (isLate(start)) {
        return false;
      }
      Threads.pause(UNUSED_PAUSE_NANOS);
    }
    return true;
  }

  private boolean isUsed(long lastMessage, long lastAccess) {
    return !queue.isComplete(lastMessage) || !queue.accesses().isRetired(lastAccess);
  }

  private boolean isLate(long start) {
    return start + connection.releaseTimeoutNanos() - System.nanoTime() < 0;
  }

  /** Ends the connection: a peer that receives nothing must not block a close without limit. */
  @Override
  protected void giveUp() {
    connection
        .life()
        .lost(
            "timed out closing registered memory: the peer has not acknowledged the last message"
                + " from it, or the last access to it, within closeTimeout");
  }

  @Override
  protected void release() {
    cache.release(region);
  }
}
