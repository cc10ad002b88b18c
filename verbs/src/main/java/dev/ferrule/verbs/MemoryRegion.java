// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_mr;
import dev.ferrule.verbs.calls.RawMemory;
import dev.ferrule.verbs.calls.VerbsCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory that the device may use ({@code ibv_mr}); pinned until it is closed.
 *
 * <p><b>Threads:</b> any number of threads may use one; any may close it, once no work request that
 * names it is under way.
 */
public final class MemoryRegion implements AutoCloseable {

  private final Registration registration;
  private final MemorySegment segment;
  private final @Nullable Arena arena;
  private final int localKey;
  private final int remoteKey;

  /**
   * What the device has. It does not know the memory, so that an arena that closes it may be found
   * to be unreachable.
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

  /** Lets an arena end the registration when it is closed, before it frees what it has by now. */
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

  /**
   * Returns the memory.
   *
   * @return the segment that was registered
   */
  public MemorySegment segment() {
    return segment;
  }

  /**
   * Returns the key by which this side's work requests name the memory.
   *
   * @return the lkey
   */
  public int localKey() {
    return localKey;
  }

  /**
   * Returns the key by which a peer's work requests name the memory.
   *
   * @return the rkey
   */
  public int remoteKey() {
    return remoteKey;
  }

  /**
   * Ends the registration, and frees the memory if it was allocated with it. Closing twice does
   * nothing.
   *
   * @throws IllegalStateException if a thread is using the memory in a system call; it is no longer
   *     registered then, and closing can be tried again
   * @throws VerbsException if the device refuses
   */
  @Override
  public synchronized void close() {
    registration.close();
    if (arena != null && arena.scope().isAlive()) {
      arena.close();
    }
  }
}
