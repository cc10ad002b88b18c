// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.RmaRight;
import dev.ferrule.StandardOptions;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.rma.AllocatableMemory;
import dev.ferrule.sm.rma.ExposedRegion;
import dev.ferrule.sm.rma.RegionTable;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.Threads;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The memory that this side exposes to the peer.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class SmExposures {

  /** Far longer than copying a piece takes. */
  private static final long CALLBACK_TIMEOUT_NANOS = 50_000_000;

  private static final long PAUSE_NANOS = 20_000;

  private final SmConnection connection;
  private final SmConnectionResources resources;
  private final RegionTable table;
  private final AllocatableMemory allocatable;
  private final long releaseTimeoutNanos;

  SmExposures(SmConnection connection, SmConnectionResources resources, ResolvedOptions options) {
    this.connection = connection;
    this.resources = resources;
    this.table =
        new RegionTable(
            resources.own().rma(), resources.peerRing().rma(), resources.exposingKnem());
    this.allocatable = resources.own().allocatable();
    this.releaseTimeoutNanos =
        Math.max(1_000_000_000L, options.get(StandardOptions.CLOSE_TIMEOUT).toNanos());
  }

  RegionTable table() {
    return table;
  }

  /** Returns how long a close may wait for the peer, in nanoseconds. */
  long releaseTimeoutNanos() {
    return releaseTimeoutNanos;
  }

  /** Exposes memory of the program; returns null if the table is full. */
  @Nullable ExposedRegion add(MemorySegment memory, Set<RmaRight> rights) {
    ExposedRegion region = table.add(memory, rights);
    Reference.reachabilityFence(connection);
    return region;
  }

  /** Allocates memory, and exposes it; returns null if the table is full. */
  @Nullable ExposedRegion allocate(long size, Set<RmaRight> rights) {
    long place = allocate(size);
    ExposedRegion region = table.add(allocatable.segment(place, size), rights, place);
    if (region == null) {
      allocatable.free(place, size);
    }
    Reference.reachabilityFence(connection);
    return region;
  }

  private long allocate(long size) {
    long place;
    try {
      place = allocatable.allocate(size);
    } catch (PosixException e) {
      throw Failures.of(connection.uri(), e);
    }
    if (place == AllocatableMemory.NONE) {
      throw new ResourceExhaustedException(
          connection.uri(),
          ("no room for %s bytes in the %s bytes that this side can allocate for this connection; close"
                  + " other allocated memory, or raise the option %s")
              .formatted(size, allocatable.size(), SmOptions.ALLOCATABLE.name()),
          null);
    }
    return place;
  }

  /**
   * Returns the time by which the peer must have ended its accesses: a close callback must not
   * block the endpoint's thread.
   */
  long deadline() {
    boolean isCallback = resources.endpoint().isCurrentThread();
    return System.nanoTime() + (isCallback ? CALLBACK_TIMEOUT_NANOS : releaseTimeoutNanos);
  }

  /** Ends an exposure, and waits until the peer no longer accesses it. */
  void end(ExposedRegion region, long deadline) {
    if (!table.end(region)) {
      awaitTakenBack(region, deadline); // another thread takes it back
      return;
    }
    boolean inUse = isAccessed(region);
    while (inUse && deadline - System.nanoTime() > 0) {
      Threads.pause(PAUSE_NANOS);
      inUse = isAccessed(region);
    }
    table.free(region);
    if (region.isAllocated()) {
      allocatable.free(region.place(), region.key().length());
    }
    region.markTakenBack();
    Reference.reachabilityFence(connection);
    if (inUse) {
      connection.giveUp(
          "timed out waiting for the peer's access to exposed memory to end (stopped, or"
              + " hostile?)");
    }
  }

  private static void awaitTakenBack(ExposedRegion region, long deadline) {
    while (!region.isTakenBack() && deadline - System.nanoTime() > 0) {
      Threads.pause(PAUSE_NANOS);
    }
  }

  private boolean isAccessed(ExposedRegion region) {
    return table.isInUse(region) && !connection.isPeerDead();
  }

  /** Ends all exposures. */
  void endAll(long deadline) {
    table.all().forEach(region -> end(region, deadline));
  }
}
