// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_mr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A memory region ({@code ibv_mr}): memory that the device may access, pinned until the region is
 * closed.
 *
 * <p><b>Threads:</b> safe for use by several threads. Any thread may close it, once no outstanding
 * work request refers to it.
 */
public final class MemoryRegion implements AutoCloseable {

  private final Registration registration;
  private final MemorySegment segment;
  private final @Nullable Arena arena;
  private final int localKey;
  private final int remoteKey;

  /**
   * The registration at the device. It holds no reference to the memory: a cleanup action of an
   * automatic arena refers to the registration, and must not keep the arena reachable.
   */
  private static final class Registration {

    private final VerbsCalls calls;
    private final long address;
    private boolean closed;

    Registration(VerbsCalls calls, long address) {
      this.calls = calls;
      this.address = address;
    }

    synchronized void close() {
      if (!closed) {
        VerbsException.check("ibv_dereg_mr", "", calls.deregMr(address));
        closed = true;
      }
    }
  }

  MemoryRegion(VerbsCalls calls, MemorySegment segment, long address, @Nullable Arena arena) {
    this.registration = new Registration(calls, address);
    this.segment = segment;
    this.arena = arena;
    this.localKey = RawMemory.getInt(address + ibv_mr.lkey$offset());
    this.remoteKey = RawMemory.getInt(address + ibv_mr.rkey$offset());
  }

  /** Ends the registration when an arena is closed, before the arena frees its memory. */
  void closeWith(Arena owner) {
    Registration mine = registration;
    boolean done = false;
    try {
      segment.reinterpret(owner, ignored -> mine.close());
      done = true;
    } finally {
      if (!done) {
        mine.close(); // the arena is closed
      }
    }
  }

  /** {@return the memory} */
  public MemorySegment segment() {
    return segment;
  }

  /** {@return the local key, for work requests of this side} */
  public int localKey() {
    return localKey;
  }

  /** {@return the remote key, for work requests of a peer} */
  public int remoteKey() {
    return remoteKey;
  }

  /**
   * Ends the registration, and frees the memory if the region allocated it. Closing twice has no
   * effect.
   *
   * @throws IllegalStateException if a thread is using the memory in a system call; the
   *     registration has ended, and closing can be retried
   * @throws VerbsException if the device fails to deregister
   */
  @Override
  public synchronized void close() {
    registration.close();
    if (arena != null && arena.scope().isAlive()) {
      arena.close();
    }
  }
}
