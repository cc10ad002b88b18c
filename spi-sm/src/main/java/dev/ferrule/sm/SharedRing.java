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
import dev.ferrule.sm.rma.AllocatableMemory;
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
 * ring, what is for remote memory access, the payload lines, and last what is only allocated when
 * it is needed: the buffer for fragments, and memory that the program allocates to expose it.
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

  /**
   * How much address space is for remote memory access, behind what is allocated at once.
   *
   * @param buffer for fragments
   * @param allocatable for memory that the program allocates to expose it
   */
  record RmaSizes(long buffer, long allocatable) {

    RmaSizes {
      buffer = rounded(buffer);
      allocatable = rounded(allocatable);
    }

    private static long rounded(long size) {
      return size + RmaLayout.PAGE - 1 & -RmaLayout.PAGE;
    }
  }

  /** Makes the file of a direction. */
  static SealedFile createFile(RingLayout layout, RmaSizes rma) {
    long allocated = allocatedSize(layout);
    return SealedFile.create(allocated + rma.buffer() + rma.allocatable(), allocated);
  }

  static SharedRing create(
      SealedFile file,
      RingLayout layout,
      RmaSizes sizes,
      long peerGeneration,
      @Nullable Knem knem,
      Arena views) {
    SharedMapping mapping = file.map(allocatedSize(layout), views);
    int flags = Membarrier.REGISTERED ? RingLayout.FLAG_MEMBARRIER : 0;
    long generation = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    RmaArea rma = rmaArea(mapping, layout, sizes.allocatable(), Credentials.own());
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
    long largest = allocated + SmOptions.MAX_RMA_BUFFER + SmOptions.MAX_ALLOCATABLE;
    SharedMapping mapping = file.map(largest, allocated, views);
    long allocatable =
        RmaArea.allocatableSize(
            mapping.address() + rmaOffset(it.layout()), mapping.size() - allocated);
    if (allocatable < 0) {
      return Optional.empty();
    }
    RmaArea rma = rmaArea(mapping, it.layout(), allocatable, memory.sender());
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

  private static RmaArea rmaArea(
      SharedMapping mapping, RingLayout layout, long allocatable, Credentials maker) {
    long allocated = allocatedSize(layout);
    long end = mapping.size() - allocatable;
    return new RmaArea(
        mapping.address() + rmaOffset(layout),
        mapping.address() + allocated,
        end - allocated,
        mapping.view().asSlice(end),
        maker);
  }

  /** What this side's program can allocate to expose it. */
  AllocatableMemory allocatable() {
    MemorySegment view = rma.allocatable();
    return new AllocatableMemory(mapping, mapping.size() - view.byteSize(), view);
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
    int error = mapping.populate(allocatedSize(layout), rma.bufferSize());
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
