// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.rdma.memory.NativeMemory;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a ring, registered so that the peer may write to it. The peer addresses it by
 * offsets from 0 to the ring's size, or to twice the size in a {@linkplain Mapping#MAGIC magic}
 * ring.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 */
public final class Ring implements AutoCloseable {

  private final @Nullable MagicBuffer buffer;
  private final MemoryRegion region;
  private final MemorySegment view;

  private Ring(@Nullable MagicBuffer buffer, MemorySegment memory, ProtectionDomain domain) {
    this.buffer = buffer;
    this.region =
        NativeMemory.registered(
            memory,
            () ->
                domain.registerZeroBased(
                    memory, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE));
    this.view = memory.asReadOnly();
  }

  /**
   * Creates a ring.
   *
   * @param domain the protection domain to register it with
   * @param arena allocates a plain ring
   * @param size the size in bytes, a multiple of the page size
   * @param mapping the mapping of the ring
   * @param huge whether a magic ring should use huge pages
   * @return the ring, to be closed
   * @throws dev.ferrule.verbs.VerbsException if the system lacks memory, or the limit of locked
   *     memory is too low
   */
  public static Ring make(
      ProtectionDomain domain, Arena arena, long size, Mapping mapping, boolean huge) {
    if (mapping == Mapping.PLAIN) {
      return new Ring(null, NativeMemory.allocate(arena, size, "use a smaller ring"), domain);
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

  /** {@return the remote key of the ring} */
  public int remoteKey() {
    return region.remoteKey();
  }

  /**
   * Returns the ring's memory.
   *
   * @return a read-only segment; in a magic ring, it covers both mappings
   */
  public MemorySegment view() {
    return view;
  }

  /** Ends the registration. The memory is freed when it is unreachable. */
  @Override
  public void close() {
    region.close();
  }

  /** Frees the pages, after {@link #close}. */
  public void discard() {
    if (buffer == null) {
      NativeMemory.discard(region.segment());
    } else {
      buffer.close();
    }
  }
}
