// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.access;

import static dev.ferrule.verbs.access.AccessTableLayout.INT;
import static dev.ferrule.verbs.access.AccessTableLayout.LONG;

import dev.ferrule.spi.RmaKey;
import dev.ferrule.verbs.Access;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * This side's table: what the peer exposes, as the peer's device has written it here, and for each
 * of these how many requests are under way.
 *
 * <p>That is how a peer takes memory back without asking this side's program: it clears the entry
 * here, and then reads here whether requests are under way. This side counts a request first, and
 * only then looks at the entry. So either the peer sees the request, and waits, or the request sees
 * that the memory is gone; and no request is ever posted for memory that is no longer registered,
 * for which devices break the connection.
 *
 * <p>Whatever is here is the peer's word. A peer that lies has this side ask its own device for
 * memory that is not there, and so ends its own connection.
 *
 * <p><b>Threads:</b> any thread looks up; counting is for the send queue's lock.
 */
public final class AccessTable implements AutoCloseable {

  private final MemorySegment memory;
  private final MemoryRegion region;
  private final int[] underWay = new int[AccessTableLayout.MAX_EXPOSURES];

  /**
   * Makes an empty table, and lets the peer's device write to it.
   *
   * @param domain where to register it
   * @param arena what to allocate it by
   * @throws dev.ferrule.verbs.VerbsException if too little memory may be locked
   */
  public AccessTable(ProtectionDomain domain, Arena arena) {
    memory = arena.allocate(AccessTableLayout.SIZE, AccessTableLayout.ALIGNMENT); // a page
    region =
        domain.registerZeroBased(
            memory, Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ);
  }

  /**
   * Returns the key that the peer needs.
   *
   * @return the rkey
   */
  public int remoteKey() {
    return region.remoteKey();
  }

  int localKey() {
    return region.localKey();
  }

  /** The memory, whose {@linkplain AccessTableLayout#SCRATCH scratch} is for whoever exposes. */
  MemorySegment memory() {
    return memory;
  }

  /**
   * Looks up what the peer exposes.
   *
   * @param key what a handle says
   * @return the memory; null if the peer does not expose just that
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
    VarHandle.loadLoadFence(); // what was read belongs together if the entry is still the same
    return isSame && isExposed(key.id(), key.generation())
        ? new PeerMemory(key, first, this)
        : null;
  }

  private boolean isExposed(int id, long generation) {
    long entry = AccessTableLayout.entry(id);
    return (long) LONG.getAcquire(memory, entry + AccessTableLayout.ENTRY_GENERATION) == generation;
  }

  /** Counts a request, unless the memory is gone. Under the send queue's lock. */
  boolean acquire(int id, long generation) {
    count(id, 1);
    VarHandle.fullFence(); // the count is there before the entry is looked at
    if (isExposed(id, generation)) {
      return true;
    }
    count(id, -1);
    return false;
  }

  /**
   * A request is done. Under the send queue's lock.
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

  /** Ends the registration; the memory is the arena's. */
  @Override
  public void close() {
    region.close();
  }
}
