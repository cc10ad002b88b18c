// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.verbs.Access;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.endpoint.Cleanup;
import dev.ferrule.verbs.memory.MagicBuffer;
import dev.ferrule.verbs.memory.NativeMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a ring, registered so that the peer may write to it: by offsets, from 0 to the
 * ring's size, and in a {@linkplain Mapping#MAGIC magic} ring up to twice of that.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class Ring implements AutoCloseable {

  private final @Nullable MagicBuffer buffer;
  private final MemoryRegion region;
  private final MemorySegment view;

  private Ring(@Nullable MagicBuffer buffer, MemorySegment memory, ProtectionDomain domain) {
    this.buffer = buffer;
    this.region = domain.registerZeroBased(memory, Access.LOCAL_WRITE | Access.REMOTE_WRITE);
    this.view = memory.asReadOnly();
  }

  /**
   * Makes a ring.
   *
   * @param domain where to register it
   * @param arena what a plain ring is allocated by
   * @param size its size in bytes, whole pages
   * @param mapping how it is mapped
   * @param huge whether a magic ring is wanted in huge pages
   * @return the ring, to be closed
   * @throws dev.ferrule.verbs.VerbsException if the system lacks memory, or too little of it may be
   *     locked
   */
  public static Ring make(
      ProtectionDomain domain, Arena arena, long size, Mapping mapping, boolean huge) {
    if (mapping == Mapping.PLAIN) {
      return new Ring(
          null,
          NativeMemory.allocate(arena, size, MagicBuffer.pageSize(), "use a smaller ring"),
          domain);
    }
    MagicBuffer made = huge ? MagicBuffer.allocateHuge(size) : MagicBuffer.allocate(size);
    boolean done = false;
    try {
      Ring ring = new Ring(made, made.segment(), domain);
      done = true;
      return ring;
    } finally {
      if (!done) {
        made.close();
      }
    }
  }

  /**
   * Returns the key by which the peer names the ring.
   *
   * @return the rkey
   */
  public int remoteKey() {
    return region.remoteKey();
  }

  /**
   * Returns the ring's memory.
   *
   * @return a segment that can only be read; in a magic ring of both mappings
   */
  public MemorySegment view() {
    return view;
  }

  /** Ends the registration, and gives back what is not the arena's. */
  @Override
  public void close() {
    Cleanup.close(region, buffer);
  }
}
