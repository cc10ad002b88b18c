// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.os.Membarrier;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SharedFile;
import dev.ferrule.sm.ring.RingLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The two mapped files of one direction of a connection.
 *
 * @param layout where everything lies in them
 * @param flags the flags of the process that made them
 * @param generation tells them from earlier files of the same names
 * @param peerGeneration the generation of the opposite direction's files, or 0
 * @param ring the header ring
 * @param buffer the payload lines
 */
record SharedRing(
    RingLayout layout,
    int flags,
    long generation,
    long peerGeneration,
    MemorySegment ring,
    MemorySegment buffer) {

  static SharedRing create(Path directory, RingLayout layout, long peerGeneration, Arena arena) {
    // the buffer goes first: whoever sees the ring's descriptor may map both
    MemorySegment buffer =
        SharedFile.create(directory.resolve(EndpointFiles.BUFFER), layout.bufferSize(), arena);
    MemorySegment ring =
        SharedFile.create(directory.resolve(EndpointFiles.RING), layout.ringSize(), arena);
    int flags = Membarrier.REGISTERED ? RingLayout.FLAG_MEMBARRIER : 0;
    long generation = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    layout.writeDescriptor(ring, flags, generation, peerGeneration);
    return new SharedRing(layout, flags, generation, peerGeneration, ring, buffer);
  }

  /** Maps what a peer has made; empty if there is nothing that could be right. */
  static Optional<SharedRing> attach(Path directory, Arena arena) {
    Path ringFile = directory.resolve(EndpointFiles.RING);
    try {
      Optional<RingLayout.Descriptor> descriptor;
      try (Arena scratch = Arena.ofConfined()) {
        descriptor =
            RingLayout.readDescriptor(
                SharedFile.attach(ringFile, RingLayout.DESCRIPTOR_SIZE, scratch));
      }
      if (descriptor.isEmpty()) {
        return Optional.empty();
      }
      RingLayout.Descriptor it = descriptor.get();
      MemorySegment ring = SharedFile.attach(ringFile, it.layout().ringSize(), arena);
      MemorySegment buffer =
          SharedFile.attach(
              directory.resolve(EndpointFiles.BUFFER), it.layout().bufferSize(), arena);
      return Optional.of(
          new SharedRing(
              it.layout(), it.flags(), it.generation(), it.peerGeneration(), ring, buffer));
    } catch (PosixException e) {
      if (e.is(LibC.ENOENT(), LibC.ENOTDIR(), LibC.EINVAL(), LibC.ELOOP())) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /**
   * Whether two sides, one of which made these files, cannot rely on membarrier(2) between them.
   */
  boolean needsFences() {
    return !Membarrier.REGISTERED || (flags & RingLayout.FLAG_MEMBARRIER) == 0;
  }
}
