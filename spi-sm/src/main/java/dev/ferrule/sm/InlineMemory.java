// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Private memory of a region, for an inline message that cannot lie in the ring: another region is
 * claimed or held there. Most are short and lie side by side; room for a longer one is only made
 * when one comes.
 *
 * <p>The program sees it through views that die with the connection. The memory itself is freed
 * when the region is unreachable, so that a thread in the data plane copies to and from it by
 * address without a check.
 */
final class InlineMemory {

  /** Bytes that each region has from the start. */
  private static final int SHORT = 4 * RingLayout.LINE;

  private final Arena views;
  private final Block block;
  private final long blockOffset;
  private @Nullable Block longer;

  /** Memory, and what the program gets to see of it. */
  private record Block(MemorySegment memory, MemorySegment view, MemorySegment readOnlyView) {

    static Block allocate(long size, Arena views) {
      MemorySegment memory = Arena.ofAuto().allocate(size, RingLayout.LINE);
      MemorySegment view = MemorySegment.ofAddress(memory.address()).reinterpret(size, views, null);
      return new Block(memory, view, view.asReadOnly());
    }
  }

  private InlineMemory(Arena views, Block block, long blockOffset) {
    this.views = views;
    this.block = block;
    this.blockOffset = blockOffset;
  }

  /**
   * Makes the memory of several regions.
   *
   * @param count how many
   * @param views the arena of what the program sees
   * @return one for each
   */
  static InlineMemory[] allocate(int count, Arena views) {
    Block shared = Block.allocate((long) count * SHORT, views);
    InlineMemory[] all = new InlineMemory[count];
    for (int i = 0; i < count; i++) {
      all[i] = new InlineMemory(views, shared, (long) i * SHORT);
    }
    return all;
  }

  private Block block(int length) {
    if (length <= SHORT) {
      return block;
    }
    Block result = longer;
    if (result == null) {
      result = Block.allocate(RingLayout.INLINE_MAX, views);
      longer = result;
    }
    return result;
  }

  /**
   * What the program sees of the memory for a message of a length; it starts at {@link #offset}.
   */
  MemorySegment view(int length) {
    return block(length).view;
  }

  /** The same, to be read only. */
  MemorySegment readOnlyView(int length) {
    return block(length).readOnlyView;
  }

  long offset(int length) {
    return length <= SHORT ? blockOffset : 0;
  }

  /** Where the memory for a message of a length is. */
  long address(int length) {
    return block(length).memory.address() + offset(length);
  }
}
