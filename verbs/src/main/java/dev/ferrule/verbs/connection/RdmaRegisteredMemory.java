// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.spi.Registrations;
import dev.ferrule.verbs.Access;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.queue.AccessQueue;
import java.lang.foreign.MemorySegment;

/** Memory of the program's own, which the device reads directly. */
final class RdmaRegisteredMemory implements RegisteredMemory, AccessQueue.Source {

  private final RdmaSender sender;
  private final MemorySegment segment;
  private final MemoryRegion region;
  private volatile long lastUse;
  private volatile boolean accessed;
  private volatile boolean closed;

  RdmaRegisteredMemory(RdmaSender sender, ProtectionDomain domain, MemorySegment segment) {
    Registrations.check(segment);
    this.sender = sender;
    this.segment = segment;
    // what is read from the peer's memory is written here
    this.region = domain.register(segment, segment.isReadOnly() ? 0 : Access.LOCAL_WRITE);
  }

  boolean belongsTo(RdmaSender candidate) {
    return sender == candidate;
  }

  /** Fails if nothing may be sent from the memory any more. */
  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the registration was closed");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the memory has been freed while it was registered");
    }
  }

  @Override
  public boolean isUsable() {
    return !closed;
  }

  @Override
  public int localKey() {
    return region.localKey();
  }

  void used(long id) {
    lastUse = id;
  }

  /** It is used for remote memory access. */
  void accessed() {
    if (!accessed) {
      accessed = true;
    }
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      sender.awaitUnused(lastUse, accessed);
      deregister();
      sender.forget(this);
    }
  }

  void deregister() {
    closed = true;
    region.close();
  }
}
