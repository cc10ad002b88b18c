// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Private memory of a region, for an inline message that cannot be in the ring because another
 * region is claimed or held there. Most messages are short, and their memory is contiguous; memory
 * for a longer one is allocated when the first one occurs.
 *
 * <p>The memory is freed when this object and all of its views are unreachable, so that a thread in
 * the data plane copies to and from it by address without a check.
 */
final class InlineMemory {

  /** Size of each region's initial memory. */
  private static final int SHORT = 4 * RingLayout.LINE;

  /** The memory of a region that is always in the ring. */
  static final InlineMemory NONE =
      new InlineMemory(new Block(MemorySegment.NULL, MemorySegment.NULL), 0);

  private final Block block;
  private final long blockOffset;
  private @Nullable Block longer;

  private record Block(MemorySegment view, MemorySegment readOnlyView) {

    static Block allocate(long size) {
      MemorySegment memory = Arena.ofAuto().allocate(size, RingLayout.LINE);
      return new Block(memory, memory.asReadOnly());
    }
  }

  private InlineMemory(Block block, long blockOffset) {
    this.block = block;
    this.blockOffset = blockOffset;
  }

  /** Allocates the memory of several regions. */
  static InlineMemory[] allocate(int count) {
    Block shared = Block.allocate((long) count * SHORT);
    InlineMemory[] all = new InlineMemory[count];
    for (int i = 0; i < count; i++) {
      all[i] = new InlineMemory(shared, (long) i * SHORT);
    }
    return all;
  }

  private Block block(int length) {
    if (length <= SHORT) {
      return block;
    }
    Block result = longer;
    if (result == null) {
      result = Block.allocate(RingLayout.INLINE_MAX);
      longer = result;
    }
    return result;
  }

  /**
   * Returns the program's view of the memory for a message of a length; it starts at {@link
   * #offset}.
   */
  MemorySegment view(int length) {
    return block(length).view;
  }

  /** Returns the read-only view of the memory for a message of a length. */
  MemorySegment readOnlyView(int length) {
    return block(length).readOnlyView;
  }

  long offset(int length) {
    return length <= SHORT ? blockOffset : 0;
  }

  /** Returns the address of the memory for a message of a length. */
  long address(int length) {
    return block(length).view.address() + offset(length);
  }
}
