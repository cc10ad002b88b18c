// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.Threads;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The registered memory of a connection, for all its senders and its remote memory access.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class RdmaRegistrations {

  private static final long UNUSED_PAUSE_NANOS = 20_000;

  private final RdmaConnection connection;
  private final SendQueue queue;
  private final Set<RdmaRegisteredMemory> all = ConcurrentHashMap.newKeySet();
  private final Object registering = new Object();

  RdmaRegistrations(RdmaConnection connection, SendQueue queue) {
    this.connection = connection;
    this.queue = queue;
  }

  RdmaRegisteredMemory register(ProtectionDomain domain, MemorySegment memory) {
    synchronized (registering) {
      connection.life().checkOpen(); // later registrations are closed with the connection
      RdmaRegisteredMemory registered = new RdmaRegisteredMemory(this, domain, memory);
      all.add(registered);
      return registered;
    }
  }

  /** Checks that memory is registered with this connection. */
  RdmaRegisteredMemory own(RegisteredMemory memory) {
    if (!(memory instanceof RdmaRegisteredMemory registered) || !registered.belongsTo(this)) {
      throw new IllegalArgumentException("the memory was registered with another connection");
    }
    registered.checkOpen();
    return registered;
  }

  /**
   * Waits until the messages that senders have staged are posted, or never will be.
   *
   * @param unposted their number
   * @return false after a timeout, as a sender has not flushed
   */
  boolean awaitPosted(AtomicInteger unposted) {
    long deadline = System.nanoTime() + connection.patienceNanos();
    while (unposted.get() > 0 && queue.accesses().isUsable() && !connection.hasEnded()) {
      if (deadline - System.nanoTime() < 0) {
        return false;
      }
      Threads.pause(UNUSED_PAUSE_NANOS);
    }
    return true;
  }

  /**
   * Waits, before memory is deregistered, until no outstanding work request uses it. A peer that
   * receives nothing must not block this without limit: after a timeout the connection ends.
   *
   * @param lastUse the number in the queue of the last message from the memory; 0 if there is none
   * @param accessed whether the memory was used for remote memory access
   */
  void awaitUnused(long lastUse, boolean accessed) {
    long deadline = System.nanoTime() + connection.patienceNanos();
    long lastAccess = accessed ? queue.accesses().lastRequest() : 0;
    // also while another thread closes the connection, which waits for the same condition
    while (queue.accesses().isUsable() && isUsed(lastUse, lastAccess)) {
      if (deadline - System.nanoTime() < 0) {
        connection
            .life()
            .lost(
                "timed out closing registered memory: the peer has not acknowledged the last"
                    + " message from it, or the last access to it, within closeTimeout");
        return;
      }
      Threads.pause(UNUSED_PAUSE_NANOS);
    }
  }

  private boolean isUsed(long lastUse, long lastAccess) {
    return !queue.isComplete(lastUse) || !queue.accesses().isRetired(lastAccess);
  }

  void forget(RdmaRegisteredMemory registered) {
    all.remove(registered);
  }

  /** Ends all registrations; the queue pair is destroyed, or flushes its requests. */
  void close() {
    synchronized (registering) {
      all.forEach(RdmaRegisteredMemory::deregister);
    }
  }
}
