// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.spi.Registrations;
import java.lang.foreign.MemorySegment;

/**
 * Memory of the program's own. Shared memory has nothing to register, so this only keeps to the
 * rules of those that have: messages are copied when they are sent, and accesses are waited for.
 */
final class SmRegisteredMemory implements RegisteredMemory {

  private final SmConnection connection;
  private final MemorySegment segment;
  private volatile boolean closed;
  private volatile long lastFragments; // the last operation of which the peer copies fragments

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
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the memory has been freed while it was registered");
    }
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  /** An operation on it goes by fragments. */
  void usedByFragments(long id) {
    lastFragments = id;
  }

  long lastFragments() {
    return lastFragments;
  }

  @Override
  public void close() {
    closed = true;
    connection.awaitUnused(this);
  }
}
