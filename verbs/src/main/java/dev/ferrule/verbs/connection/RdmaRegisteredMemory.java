// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.spi.Registrations;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;

/** Memory of the program's own, which the device reads directly. */
final class RdmaRegisteredMemory implements RegisteredMemory {

  private final RdmaSender sender;
  private final MemorySegment segment;
  private final MemoryRegion region;
  private volatile long lastUse;
  private volatile boolean closed;

  RdmaRegisteredMemory(RdmaSender sender, ProtectionDomain domain, MemorySegment segment) {
    Registrations.check(segment);
    this.sender = sender;
    this.segment = segment;
    this.region = domain.register(segment, 0);
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

  int localKey() {
    return region.localKey();
  }

  void used(long id) {
    lastUse = id;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      sender.awaitUnused(lastUse);
      deregister();
      sender.forget(this);
    }
  }

  void deregister() {
    closed = true;
    region.close();
  }
}
