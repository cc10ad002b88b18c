// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The program's memory that is registered with a device, for local accesses. Memory is registered
 * once for all connections that use it, and deregistered when the last one releases it.
 *
 * <p><b>Threads:</b> safe for use by several threads. Registering and deregistering large memory
 * takes long, but delays only threads that need the same region.
 */
public final class RegistrationCache {

  /**
   * The identity of registered memory. The scope distinguishes memory that has been freed while
   * registered from later memory at the same address.
   */
  private record Key(MemorySegment.Scope scope, long address, long size, boolean readOnly) {

    static Key of(MemorySegment memory) {
      return new Key(memory.scope(), memory.address(), memory.byteSize(), memory.isReadOnly());
    }
  }

  /** A registered region, with the number of its users. */
  public static final class Region {

    private final Key key;
    private int users; // under the lock of the cache
    private @Nullable MemoryRegion registered; // under the monitor of this

    private Region(Key key) {
      this.key = key;
    }

    private synchronized MemoryRegion register(ProtectionDomain domain, MemorySegment memory) {
      MemoryRegion known = registered;
      if (known == null) {
        // RDMA READs and atomic operations write to it
        known = domain.register(memory, memory.isReadOnly() ? 0 : AccessFlags.LOCAL_WRITE);
        registered = known;
      }
      return known;
    }

    private synchronized void deregister() {
      Cleanup.close(registered);
    }

    /** {@return the local key} */
    public synchronized int localKey() {
      MemoryRegion known = registered;
      if (known == null) {
        throw new IllegalStateException("the region is not registered");
      }
      return known.localKey();
    }
  }

  private final ProtectionDomain domain;
  private final Map<Key, Region> regions = new HashMap<>(); // guarded by itself

  /**
   * Creates a cache without regions.
   *
   * @param domain registers the memory
   */
  public RegistrationCache(ProtectionDomain domain) {
    this.domain = domain;
  }

  /**
   * Returns the region of memory for one more user.
   *
   * @param memory native memory
   * @return the region, to be released once
   * @throws VerbsException if the registration fails, for example because of the limit of locked
   *     memory
   */
  public Region acquire(MemorySegment memory) {
    Region region;
    synchronized (regions) {
      region = regions.computeIfAbsent(Key.of(memory), Region::new);
      region.users++;
    }
    boolean registered = false;
    try {
      MemoryRegion ignored = region.register(domain, memory);
      registered = true;
      return region;
    } finally {
      if (!registered) {
        release(region);
      }
    }
  }

  /**
   * Releases a region for one user. The last release deregisters it; no outstanding work request
   * may use it then.
   *
   * @param region the region
   */
  public void release(Region region) {
    synchronized (regions) {
      region.users--;
      if (region.users > 0) {
        return;
      }
      regions.remove(region.key);
    }
    region.deregister();
  }
}
