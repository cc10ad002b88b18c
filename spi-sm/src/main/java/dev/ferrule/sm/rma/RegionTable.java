// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.sm.os.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.RmaRight;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.spi.RmaKey;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What this side exposes to the peer of a connection: in the shared table, where a peer that copies
 * by itself finds the address, and in this process's own, by which it copies for the peer. The
 * address in the shared one is only ever written and never read by this side.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class RegionTable {

  /** In place of where in the allocatable memory a region begins: nowhere. */
  static final long OTHER_MEMORY = -1;

  private final long own; // the address
  private final long peer; // the address
  private final @Nullable Knem knem;
  private final SecureRandom random = new SecureRandom();
  private final AtomicReferenceArray<@Nullable ExposedRegion> regions =
      new AtomicReferenceArray<>(RmaLayout.MAX_REGIONS);
  private int next; // under this monitor

  /**
   * Begins with an empty table.
   *
   * @param own this side's area
   * @param peer the peer's
   * @param knem the driver; null if no regions of it are to be made
   */
  public RegionTable(RmaArea own, RmaArea peer, @Nullable Knem knem) {
    this.own = own.address();
    this.peer = peer.address();
    this.knem = knem;
  }

  /**
   * Exposes memory.
   *
   * @param memory native memory
   * @param rights what the peer may do
   * @return the region; null if there is no room for another one
   */
  public @Nullable ExposedRegion add(MemorySegment memory, Set<RmaRight> rights) {
    return add(memory, rights, OTHER_MEMORY);
  }

  /**
   * Exposes memory that lies in the allocatable memory of this side.
   *
   * @param memory a part of it
   * @param rights what the peer may do
   * @param place where in it the memory begins
   * @return the region; null if there is no room for another one
   */
  public synchronized @Nullable ExposedRegion add(
      MemorySegment memory, Set<RmaRight> rights, long place) {
    int id = freeId();
    if (id < 0) {
      return null;
    }
    long generation = generation();
    RmaKey key = new RmaKey(id, generation, memory.byteSize(), rights, 0);
    long cookie =
        knem == null || memory.byteSize() == 0 || place != OTHER_MEMORY
            ? 0
            : KnemRegions.create(
                knem, memory.address(), memory.byteSize(), rights.contains(RmaRight.WRITE));
    ExposedRegion region = new ExposedRegion(key, memory, cookie, place);
    regions.set(id, region);
    long entry = RmaLayout.region(id);
    LONG.set(ALL, own + entry + RmaLayout.REGION_ADDRESS, memory.address());
    LONG.set(ALL, own + entry + RmaLayout.REGION_LENGTH, memory.byteSize());
    INT.set(ALL, own + entry + RmaLayout.REGION_RIGHTS, RmaKey.bits(rights));
    LONG.set(ALL, own + entry + RmaLayout.REGION_COOKIE, cookie);
    LONG.set(ALL, own + entry + RmaLayout.REGION_PLACE, place + 1);
    LONG.setVolatile(ALL, own + entry + RmaLayout.REGION_GENERATION, generation);
    return region;
  }

  /** Numbers take turns, so that one that was given back is not soon another's. */
  private int freeId() {
    for (int i = 0; i < RmaLayout.MAX_REGIONS; i++) {
      int id = (next + i) % RmaLayout.MAX_REGIONS;
      if (regions.get(id) == null) {
        next = (id + 1) % RmaLayout.MAX_REGIONS;
        return id;
      }
    }
    return -1;
  }

  private long generation() {
    long generation = random.nextLong();
    return generation == 0 ? 1 : generation;
  }

  /** The region of a number; null if there is none. */
  @Nullable ExposedRegion find(int id) {
    return id < 0 || id >= RmaLayout.MAX_REGIONS ? null : regions.get(id);
  }

  /**
   * Returns all regions there are.
   *
   * @return those that are exposed
   */
  public List<ExposedRegion> all() {
    return IntStream.range(0, RmaLayout.MAX_REGIONS)
        .mapToObj(regions::get)
        .filter(Objects::nonNull)
        .toList();
  }

  /**
   * Ends an exposure: no operation that begins now finds the region. {@link #free} is to be called
   * when the peer is not at it any more.
   *
   * @param region the region
   * @return whether it had not ended before
   */
  public boolean end(ExposedRegion region) {
    if (!region.end()) { // from here on, nothing is copied for the peer
      return false;
    }
    // A full fence: whoever copies by itself sees this, or is seen by isInUse.
    LONG.setVolatile(
        ALL, own + RmaLayout.region(region.key().id()) + RmaLayout.REGION_GENERATION, 0L);
    return true;
  }

  /**
   * Tells whether the peer is copying from or to a region, of which it says so itself.
   *
   * @param region a region that has ended
   * @return whether it is
   */
  public boolean isInUse(ExposedRegion region) {
    return (long) LONG.getVolatile(ALL, peer + RmaLayout.IN_USE) == region.key().id() + 1L;
  }

  /**
   * Gives a region's number back.
   *
   * @param region a region that has ended
   */
  public void free(ExposedRegion region) {
    Knem driver = knem;
    if (driver != null && region.cookie() != 0) {
      driver.destroyRegion(region.cookie());
    }
    regions.set(region.key().id(), null);
  }
}
