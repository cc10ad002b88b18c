// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.RmaRight;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.support.RmaKey;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The memory that this side exposes to the peer of a connection, in two tables: the shared one, in
 * which a peer that copies one-sidedly finds the address, and this process's own, by which it
 * copies for the peer. This side only writes the address in the shared table, and never reads it.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class RegionTable {

  /** The place of a region outside the allocatable memory. */
  static final long OTHER_MEMORY = -1;

  private final long own; // the address
  private final long peer; // the address
  private final @Nullable Knem knem;
  private final SecureRandom random = new SecureRandom();
  private final AtomicReferenceArray<@Nullable ExposedRegion> regions =
      new AtomicReferenceArray<>(RmaLayout.MAX_REGIONS);
  private int next; // guarded by this monitor

  /**
   * Creates an empty table.
   *
   * @param own this side's area
   * @param peer the peer's
   * @param knem the driver; null if no KNEM regions are to be created
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
   * @param rights the peer's rights
   * @return the region; null if there is no room for another one
   */
  public @Nullable ExposedRegion add(MemorySegment memory, Set<RmaRight> rights) {
    return add(memory, rights, OTHER_MEMORY);
  }

  /**
   * Exposes memory in the allocatable memory of this side.
   *
   * @param memory a part of it
   * @param rights the peer's rights
   * @param place its offset there
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

  /** Numbers are used in rotation, so that a freed one is reused as late as possible. */
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

  /** Returns the region with a number; null if there is none. */
  @Nullable ExposedRegion find(int id) {
    return id < 0 || id >= RmaLayout.MAX_REGIONS ? null : regions.get(id);
  }

  /** {@return all exposed regions} */
  public List<ExposedRegion> all() {
    return IntStream.range(0, RmaLayout.MAX_REGIONS)
        .mapToObj(regions::get)
        .filter(Objects::nonNull)
        .toList();
  }

  /**
   * Ends an exposure: no later operation finds the region. {@link #free} must be called when the
   * peer no longer accesses it.
   *
   * @param region the region
   * @return false if it had already ended
   */
  public boolean end(ExposedRegion region) {
    if (!region.end()) { // from here on, nothing is copied for the peer
      return false;
    }
    // A full fence: a one-sided copy sees this, or is seen by isInUse.
    LONG.setVolatile(
        ALL, own + RmaLayout.region(region.key().id()) + RmaLayout.REGION_GENERATION, 0L);
    return true;
  }

  /**
   * {@return whether the peer is copying from or to a region, according to the peer itself}
   *
   * @param region a region that has ended
   */
  public boolean isInUse(ExposedRegion region) {
    return (long) LONG.getVolatile(ALL, peer + RmaLayout.IN_USE) == region.key().id() + 1L;
  }

  /**
   * Frees a region's number.
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
