// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.spi.Registrations;
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
    Registrations.check(segment);
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
