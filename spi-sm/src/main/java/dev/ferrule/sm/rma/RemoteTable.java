// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.support.RmaKey;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The peer's exposed regions, and the hazard word by which this side prevents the peer from taking
 * a region back during a copy. This side stores the region's number, and then checks whether the
 * region is still exposed. The peer ends the exposure, and then checks the number.
 *
 * <p><b>Threads:</b> any thread may call {@link #find}; one at a time uses regions.
 */
public final class RemoteTable {

  private final long own; // the address
  private final long peer; // the address
  private final MemorySegment allocatable; // the peer's

  /**
   * Creates a table with no region in use.
   *
   * @param own this side's area
   * @param peer the peer's
   */
  public RemoteTable(RmaArea own, RmaArea peer) {
    this.own = own.address();
    this.peer = peer.address();
    this.allocatable = peer.allocatable();
  }

  /**
   * Looks up a region.
   *
   * @param key the contents of its handle
   * @return the region; null if the peer does not expose it
   */
  public @Nullable RemoteRegion find(RmaKey key) {
    if (key.id() >= RmaLayout.MAX_REGIONS || key.generation() == 0 || key.key() != 0) {
      return null;
    }
    long entry = RmaLayout.region(key.id());
    if ((long) LONG.getAcquire(ALL, peer + entry + RmaLayout.REGION_GENERATION)
        != key.generation()) {
      return null;
    }
    long address = (long) LONG.get(ALL, peer + entry + RmaLayout.REGION_ADDRESS);
    long length = (long) LONG.get(ALL, peer + entry + RmaLayout.REGION_LENGTH);
    int rights = (int) INT.get(ALL, peer + entry + RmaLayout.REGION_RIGHTS);
    long cookie = (long) LONG.get(ALL, peer + entry + RmaLayout.REGION_COOKIE);
    long place = (long) LONG.get(ALL, peer + entry + RmaLayout.REGION_PLACE) - 1;
    VarHandle.loadLoadFence(); // the values read are consistent if the region is still the same
    return isExposed(key.id(), key.generation())
            && length == key.length()
            && rights == RmaKey.bits(key.rights())
        ? new RemoteRegion(key, this, address, cookie, mapped(place, length))
        : null;
  }

  /** Returns the local mapping of allocatable memory; null if it is other memory. */
  private @Nullable MemorySegment mapped(long place, long length) {
    boolean within =
        place >= 0 && length >= 0 && place <= allocatable.byteSize() - length && length > 0;
    return within ? allocatable.asSlice(place, length) : null;
  }

  private boolean isExposed(int id, long generation) {
    return (long) LONG.getVolatile(ALL, peer + RmaLayout.region(id) + RmaLayout.REGION_GENERATION)
        == generation;
  }

  /**
   * Prevents a region from being taken back, until {@link #release}.
   *
   * @param region the region
   * @return false if it is no longer exposed; then there is nothing to release
   */
  public boolean acquire(RemoteRegion region) {
    LONG.setVolatile(ALL, own + RmaLayout.IN_USE, (long) region.id() + 1);
    if (isExposed(region.id(), region.generation())) {
      return true;
    }
    release();
    return false;
  }

  /** Permits the region to be taken back. */
  public void release() {
    LONG.setRelease(ALL, own + RmaLayout.IN_USE, 0L);
  }
}
