// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.support.Registrations;
import java.lang.foreign.MemorySegment;

/**
 * Memory of the program's own. Shared memory needs no registration, so this only implements the
 * contract of providers that do: messages are copied when they are sent, and closing waits for
 * accesses.
 */
final class SmRegisteredMemory implements RegisteredMemory {

  private final SmConnection connection;
  private final MemorySegment segment;
  private volatile boolean closed;
  private volatile long lastFragments; // the last operation whose fragments the peer copies

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
      throw new IllegalStateException("the registration is closed");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the memory was freed while it was registered");
    }
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  /** Marks an operation on it as copied by fragments. */
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
