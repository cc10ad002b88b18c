// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.rdma.memory.NativeMemory;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The registered memory from which a connection sends: lines for messages, followed by a line for
 * each control message that may be outstanding.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class SendMemory implements AutoCloseable {

  private final MemoryRegion region;
  private final MemorySegment messages;

  /**
   * Allocates and registers memory.
   *
   * @param domain registers the memory
   * @param arena allocates the memory
   * @param size the size of the part for messages in bytes, a multiple of a line
   * @throws dev.ferrule.verbs.VerbsException if the system lacks memory, or the registration fails,
   *     for example because of the limit of locked memory
   */
  public SendMemory(ProtectionDomain domain, Arena arena, long size) {
    long controls = (long) ControlMessages.SENDS * SendQueue.LINE;
    MemorySegment memory =
        NativeMemory.allocate(
            arena, size + controls, "use a smaller value of the option sendBuffer");
    this.region = NativeMemory.registered(memory, () -> domain.register(memory, 0));
    this.messages = region.segment().asSlice(0, size);
  }

  /**
   * Returns the part for messages.
   *
   * @return a segment of the arena
   */
  public MemorySegment messages() {
    return messages;
  }

  /** Returns the whole memory. */
  MemorySegment all() {
    return region.segment();
  }

  /** Returns the offset of a control message's line. */
  long controlOffset(int slot) {
    return messages.byteSize() + (long) slot * SendQueue.LINE;
  }

  int localKey() {
    return region.localKey();
  }

  /** Ends the registration; the arena owns the memory. */
  @Override
  public void close() {
    region.close();
  }

  /** Frees the pages, after {@link #close}. */
  public void discard() {
    NativeMemory.discard(region.segment());
  }
}
