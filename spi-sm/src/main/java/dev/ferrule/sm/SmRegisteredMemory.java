// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.RegisteredMemory;
import java.lang.foreign.MemorySegment;

/**
 * Memory of the program's own. Shared memory has nothing to register, so this only keeps to the
 * rules of those that have.
 */
final class SmRegisteredMemory implements RegisteredMemory {

  private final SmConnection connection;
  private final MemorySegment segment;
  private volatile boolean closed;

  SmRegisteredMemory(SmConnection connection, MemorySegment segment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "memory on the heap cannot be registered; allocate it by an Arena");
    }
    if (!segment.isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))) {
      throw new IllegalArgumentException(
          "memory confined to one thread cannot be registered; use Arena.ofShared()");
    }
    this.connection = connection;
    this.segment = segment;
  }

  SmConnection connection() {
    return connection;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the registration was closed");
    }
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void close() {
    closed = true;
  }
}
