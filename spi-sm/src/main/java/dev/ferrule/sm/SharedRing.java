// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.os.MappedMemory;
import dev.ferrule.sm.os.Membarrier;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SharedFile;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.rma.RmaFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The mapped files of one direction of a connection.
 *
 * @param layout where everything lies in them
 * @param flags the flags of the process that made them
 * @param generation tells them from earlier files of the same names
 * @param peerGeneration the generation of the opposite direction's files, or 0
 * @param ring the header ring
 * @param buffer the payload lines
 * @param rma what is for remote memory access, of the same side
 */
record SharedRing(
    RingLayout layout,
    int flags,
    long generation,
    long peerGeneration,
    MemorySegment ring,
    MemorySegment buffer,
    RmaFile rma) {

  static SharedRing create(
      Path directory, RingLayout layout, long peerGeneration, @Nullable Knem knem, Arena arena) {
    // the ring goes last: whoever sees its descriptor may map all
    long generation = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    RmaFile rma = RmaFile.create(directory, generation, knem, arena);
    MemorySegment buffer =
        SharedFile.create(directory.resolve(EndpointFiles.BUFFER), layout.bufferSize(), arena);
    MemorySegment ring =
        SharedFile.create(directory.resolve(EndpointFiles.RING), layout.ringSize(), arena);
    int flags = Membarrier.REGISTERED ? RingLayout.FLAG_MEMBARRIER : 0;
    layout.writeDescriptor(ring, flags, generation, peerGeneration);
    return new SharedRing(layout, flags, generation, peerGeneration, ring, buffer, rma);
  }

  /**
   * Maps what a peer has made; empty if there is nothing that could be right. What is not right by
   * its descriptor is not mapped any further.
   */
  static Optional<SharedRing> attach(
      Path directory, Predicate<RingLayout.Descriptor> isRight, Arena arena) {
    Path ringFile = directory.resolve(EndpointFiles.RING);
    try {
      Optional<RingLayout.Descriptor> descriptor;
      try (Arena scratch = Arena.ofConfined()) {
        descriptor =
            RingLayout.readDescriptor(
                SharedFile.attach(ringFile, RingLayout.DESCRIPTOR_SIZE, scratch));
      }
      if (descriptor.filter(isRight).isEmpty()) {
        return Optional.empty();
      }
      RingLayout.Descriptor it = descriptor.get();
      MemorySegment ring = SharedFile.attach(ringFile, it.layout().ringSize(), arena);
      MemorySegment buffer =
          SharedFile.attach(
              directory.resolve(EndpointFiles.BUFFER), it.layout().bufferSize(), arena);
      RmaFile rma = RmaFile.attach(directory, arena);
      return rma.isOf(it.generation())
          ? Optional.of(
              new SharedRing(
                  it.layout(), it.flags(), it.generation(), it.peerGeneration(), ring, buffer, rma))
          : Optional.empty();
    } catch (PosixException e) {
      if (e.is(LibC.ENOENT(), LibC.ENOTDIR(), LibC.EINVAL(), LibC.ELOOP())) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Whether all pages of the files are there; reads them all. */
  boolean isThere() {
    return MappedMemory.isThere(ring, 0, ring.byteSize())
        && MappedMemory.isThere(buffer, 0, buffer.byteSize())
        && MappedMemory.isThere(rma.memory(), 0, rma.memory().byteSize());
  }

  /**
   * Whether two sides, one of which made these files, cannot rely on membarrier(2) between them.
   */
  boolean needsFences() {
    return !Membarrier.REGISTERED || (flags & RingLayout.FLAG_MEMBARRIER) == 0;
  }
}
