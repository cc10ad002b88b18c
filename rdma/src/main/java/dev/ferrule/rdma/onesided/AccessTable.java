// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.onesided;

import static dev.ferrule.rdma.onesided.AccessTableLayout.INT;
import static dev.ferrule.rdma.onesided.AccessTableLayout.LONG;

import dev.ferrule.support.RmaKey;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * This side's table for remote memory access. It has an entry for each memory that the peer
 * exposes, which the peer's device writes, and the number of outstanding requests for each entry.
 *
 * <p>By the table, a peer ends an exposure without involving this side's program: it clears the
 * entry, then reads the number of outstanding requests. This side increments that number before it
 * reads the entry (a Dekker-style handshake). So either the peer sees the request and waits for it,
 * or this side sees that the entry is cleared and posts nothing. A request for memory that is not
 * registered would put the queue pair into the error state; none is ever posted.
 *
 * <p>The entries are not trusted. A false entry causes a request for invalid memory at the peer's
 * own device, which ends the peer's connection.
 *
 * <p><b>Threads:</b> any thread may look up entries; the caller of a method that counts requests
 * holds the send queue's lock.
 */
public final class AccessTable implements AutoCloseable {

  private final MemorySegment memory;
  private final MemoryRegion region;
  private final int[] underWay = new int[AccessTableLayout.MAX_EXPOSURES];

  /**
   * Creates an empty table, and registers it for access by the peer's device.
   *
   * @param domain registers the table
   * @param arena allocates the table
   * @throws dev.ferrule.verbs.VerbsException if the registration fails, for example because of the
   *     limit of locked memory
   */
  public AccessTable(ProtectionDomain domain, Arena arena) {
    memory = arena.allocate(AccessTableLayout.SIZE, AccessTableLayout.ALIGNMENT); // a page
    region =
        domain.registerZeroBased(
            memory, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
  }

  /** {@return the remote key of the table} */
  public int remoteKey() {
    return region.remoteKey();
  }

  int localKey() {
    return region.localKey();
  }

  /**
   * Returns the memory. Its {@linkplain AccessTableLayout#SCRATCH scratch area} belongs to {@link
   * Exposures}.
   */
  MemorySegment memory() {
    return memory;
  }

  /**
   * Looks up memory that the peer exposes.
   *
   * @param key the content of a handle
   * @return the memory; null if the peer does not expose exactly this memory
   */
  public @Nullable PeerMemory find(RmaKey key) {
    if (key.id() >= AccessTableLayout.MAX_EXPOSURES
        || key.generation() == 0
        || !isExposed(key.id(), key.generation())) {
      return null;
    }
    long entry = AccessTableLayout.entry(key.id());
    long length = (long) LONG.get(memory, entry + AccessTableLayout.ENTRY_LENGTH);
    int remoteKey = (int) INT.get(memory, entry + AccessTableLayout.ENTRY_KEY);
    int rights = (int) INT.get(memory, entry + AccessTableLayout.ENTRY_RIGHTS);
    int first = (int) INT.get(memory, entry + AccessTableLayout.ENTRY_FIRST);
    boolean isSame =
        length == key.length() && remoteKey == key.key() && rights == RmaKey.bits(key.rights());
    VarHandle.loadLoadFence(); // the fields are consistent if the generation has not changed
    return isSame && isExposed(key.id(), key.generation())
        ? new PeerMemory(key, first, this)
        : null;
  }

  private boolean isExposed(int id, long generation) {
    long entry = AccessTableLayout.entry(id);
    return (long) LONG.getAcquire(memory, entry + AccessTableLayout.ENTRY_GENERATION) == generation;
  }

  /**
   * Counts a request; returns false if the memory is no longer exposed. Under the send queue's
   * lock.
   */
  boolean acquire(int id, long generation) {
    count(id, 1);
    VarHandle.fullFence(); // the count is visible before the entry is read
    if (isExposed(id, generation)) {
      return true;
    }
    count(id, -1);
    return false;
  }

  /**
   * Decrements the count for a completed request. Under the send queue's lock.
   *
   * @param id the number of the peer's memory
   */
  public void release(int id) {
    count(id, -1);
  }

  private void count(int id, int change) {
    underWay[id] += change;
    INT.setRelease(memory, AccessTableLayout.inUse(id), underWay[id]);
  }

  /** Ends the registration; the arena owns the memory. */
  @Override
  public void close() {
    region.close();
  }
}
