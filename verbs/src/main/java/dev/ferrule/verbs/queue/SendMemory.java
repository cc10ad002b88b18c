// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.memory.NativeMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The memory that a connection sends from: lines for messages, and behind them one for each control
 * message that may be under way.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class SendMemory implements AutoCloseable {

  private final MemoryRegion region;
  private final MemorySegment messages;

  /**
   * Allocates and registers memory.
   *
   * @param domain where to register it
   * @param arena what to allocate it by
   * @param size how much of it is for messages, in bytes, whole lines
   * @throws dev.ferrule.verbs.VerbsException if the system lacks memory, or too little of it may be
   *     locked
   */
  public SendMemory(ProtectionDomain domain, Arena arena, long size) {
    long controls = (long) SendQueue.CONTROL_SENDS * SendQueue.LINE;
    MemorySegment memory =
        NativeMemory.allocate(
            arena, size + controls, SendQueue.LINE, "use a smaller value of the option buffer");
    this.region = domain.register(arena, memory, 0);
    this.messages = region.segment().asSlice(0, size);
  }

  /**
   * Returns the memory for messages.
   *
   * @return a segment that lives as long as the arena
   */
  public MemorySegment messages() {
    return messages;
  }

  /** All of it. */
  MemorySegment all() {
    return region.segment();
  }

  /** Where the line of a control message starts. */
  long controlOffset(int slot) {
    return messages.byteSize() + (long) slot * SendQueue.LINE;
  }

  int localKey() {
    return region.localKey();
  }

  /** Ends the registration; the memory is the arena's. */
  @Override
  public void close() {
    region.close();
  }
}
