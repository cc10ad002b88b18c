// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.PassedMemory;
import dev.ferrule.sm.os.Credentials;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.os.Membarrier;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SealedFile;
import dev.ferrule.sm.os.SharedMapping;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.rma.RmaArea;
import dev.ferrule.sm.rma.RmaLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one direction of a connection, in one file of the side that receives: the header
 * ring, what is for remote memory access, the payload lines, and last the buffer for fragments,
 * which is only allocated when it is first needed.
 *
 * @param mapping the file, mapped
 * @param layout where everything lies in ring and lines
 * @param flags the flags of the process that made it
 * @param generation tells it from that of an earlier connection of the same name
 * @param peerGeneration the generation of the opposite direction's, or 0
 * @param rma what is for remote memory access, of the same side
 */
record SharedRing(
    SharedMapping mapping,
    RingLayout layout,
    int flags,
    long generation,
    long peerGeneration,
    RmaArea rma) {

  /** Makes the file of a direction. */
  static SealedFile createFile(RingLayout layout, long rmaBufferSize) {
    return SealedFile.create(allocatedSize(layout) + rmaBufferSize, allocatedSize(layout));
  }

  static SharedRing create(
      SealedFile file, RingLayout layout, long peerGeneration, @Nullable Knem knem, Arena views) {
    SharedMapping mapping = file.map(allocatedSize(layout), views);
    int flags = Membarrier.REGISTERED ? RingLayout.FLAG_MEMBARRIER : 0;
    long generation = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    RmaArea rma = rmaArea(mapping, layout, Credentials.own());
    rma.writeDescriptor(generation, knem);
    layout.writeDescriptor(mapping.view(), flags, generation, peerGeneration);
    return new SharedRing(mapping, layout, flags, generation, peerGeneration, rma);
  }

  /**
   * Maps what a peer has made; empty if it is not right. What is not right by its descriptor is not
   * mapped any further.
   *
   * @throws PosixException EINVAL if the file is none that a peer may pass
   */
  static Optional<SharedRing> attach(
      PassedMemory memory, Predicate<RingLayout.Descriptor> isRight, Arena views) {
    SealedFile file = memory.file();
    RingLayout.Descriptor it =
        RingLayout.readDescriptor(file.read(RingLayout.DESCRIPTOR_SIZE)).orElse(null);
    if (it == null || !isRight.test(it)) {
      return Optional.empty();
    }
    long allocated = allocatedSize(it.layout());
    SharedMapping mapping = file.map(allocated + SmOptions.MAX_RMA_BUFFER, allocated, views);
    RmaArea rma = rmaArea(mapping, it.layout(), memory.sender());
    return rma.isOf(it.generation())
        ? Optional.of(
            new SharedRing(
                mapping, it.layout(), it.flags(), it.generation(), it.peerGeneration(), rma))
        : Optional.empty();
  }

  private static long rmaOffset(RingLayout layout) {
    return layout.ringSize();
  }

  private static long bufferOffset(RingLayout layout) {
    return rmaOffset(layout) + RmaLayout.SIZE;
  }

  /** The size of all but the buffer for fragments, which follows. */
  static long allocatedSize(RingLayout layout) {
    return bufferOffset(layout) + layout.bufferSize();
  }

  private static RmaArea rmaArea(SharedMapping mapping, RingLayout layout, Credentials maker) {
    long allocated = allocatedSize(layout);
    return new RmaArea(
        mapping.address() + rmaOffset(layout),
        mapping.address() + allocated,
        mapping.size() - allocated,
        maker);
  }

  /** The header ring, as the program sees it. */
  MemorySegment ring() {
    return mapping.view().asSlice(0, layout.ringSize());
  }

  /** The payload lines, as the program sees them. */
  MemorySegment buffer() {
    return mapping.view().asSlice(bufferOffset(layout), layout.bufferSize());
  }

  /**
   * Allocates the buffer for fragments.
   *
   * @throws PosixException ENOMEM if there is no memory for it
   */
  void allocateRmaBuffer() {
    int error = mapping.populate(allocatedSize(layout));
    if (error != 0) {
      throw new PosixException(
          "madvise", "a buffer for fragments of " + rma.bufferSize() + " bytes", LibC.ENOMEM());
    }
  }

  /**
   * Frees the payload lines, which only this side, the receiver, has read. A peer that is stopped,
   * or keeps the file on purpose, would otherwise keep the memory allocated, at the expense of this
   * process. The ring stays, as the peer's sender may still read it.
   */
  void discardBuffer() {
    mapping.discard(bufferOffset(layout), layout.bufferSize());
  }

  /** Takes the memory from the data plane, see {@link SharedMapping#retire}. */
  void retire() {
    mapping.retire();
  }

  /** Whether two sides, one of which made this, cannot rely on membarrier(2) between them. */
  boolean needsFences() {
    return !Membarrier.REGISTERED || (flags & RingLayout.FLAG_MEMBARRIER) == 0;
  }
}
