// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Private memory of a region, for a message that rides inline: it is written here before it has a
 * slot, and read here when its slot is used again. Most are short and lie side by side; room for a
 * longer one is only made when one comes.
 */
final class InlineMemory {

  /** Bytes that each region has from the start. */
  static final int SHORT = RingLayout.SLOT;

  private final Arena arena;
  private final MemorySegment shared;
  private final MemorySegment sharedView;
  private final long sharedOffset;
  private @Nullable MemorySegment longer;
  private MemorySegment longerView = MemorySegment.NULL;

  InlineMemory(Arena arena, MemorySegment shared, MemorySegment sharedView, long sharedOffset) {
    this.arena = arena;
    this.shared = shared;
    this.sharedView = sharedView;
    this.sharedOffset = sharedOffset;
  }

  /** The memory for a message; it starts at {@link #offset}. */
  MemorySegment memory(int length) {
    if (length <= SHORT) {
      return shared;
    }
    MemorySegment result = longer;
    if (result == null) {
      result = arena.allocate(RingLayout.INLINE_MAX, RingLayout.LINE);
      longer = result;
      longerView = result.asReadOnly();
    }
    return result;
  }

  /** The same memory, to be read only; {@link #memory} was called before with this length. */
  MemorySegment view(int length) {
    return length <= SHORT ? sharedView : longerView;
  }

  long offset(int length) {
    return length <= SHORT ? sharedOffset : 0;
  }
}
