// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.posix.Credentials;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Membarrier;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.endpoint.PassedMemory;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.rma.AllocatableMemory;
import dev.ferrule.sm.rma.RmaArea;
import dev.ferrule.sm.rma.RmaLayout;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one direction of a connection, in one file of the receiving side: the first ring,
 * the area for remote memory access, the payload lines, and the memory that is allocated on demand:
 * lanes, the buffer for fragments, and memory that the program allocates to expose.
 *
 * @param lanes the number of further rings with their lines, which the sending side allocates
 * @param flags the flags of the process that created it
 * @param generation distinguishes it from that of an earlier connection of the same name
 * @param peerGeneration the generation of the opposite direction, or 0
 */
record SharedRing(
    SharedMapping mapping,
    RingLayout layout,
    int lanes,
    int flags,
    long generation,
    long peerGeneration,
    RmaArea rma) {

  /**
   * The maximum number of bytes of a peer's memory whose pages are mapped when connecting; more
   * than a ring and a buffer of the default sizes. The peer chooses the size of its memory: mapping
   * all of its pages would delay other connections, and take kernel memory for page tables.
   */
  static final long MAX_POPULATED = 8 << 20;

  /**
   * The address space that is allocated on demand.
   *
   * @param rmaBuffer for fragments
   * @param allocatable for memory that the program allocates to expose
   */
  record OnDemand(int lanes, long rmaBuffer, long allocatable) {

    OnDemand {
      rmaBuffer = RmaLayout.roundedUp(rmaBuffer);
      allocatable = RmaLayout.roundedUp(allocatable);
    }
  }

  /** Creates the file of a direction. */
  static SealedFile createFile(RingLayout layout, OnDemand more) {
    long size = rmaBufferOffset(layout, more.lanes()) + more.rmaBuffer() + more.allocatable();
    return SealedFile.create(size, allocatedSize(layout));
  }

  static SharedRing create(
      SealedFile file,
      RingLayout layout,
      OnDemand sizes,
      boolean hasReadiness,
      long peerGeneration,
      @Nullable Knem knem,
      SealedFile.Limits limits) {
    int flags =
        (Membarrier.REGISTERED ? RingLayout.FLAG_MEMBARRIER : 0)
            | (hasReadiness ? RingLayout.FLAG_READINESS : 0);
    long generation = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    long allocated = allocatedSize(layout);
    SharedMapping mapping = file.map(limits, allocated, allocated);
    boolean done = false;
    try {
      RmaArea rma = rmaArea(mapping, layout, sizes.lanes(), sizes.allocatable(), Credentials.own());
      rma.writeDescriptor(generation, knem);
      layout.writeDescriptor(mapping.view(), flags, generation, peerGeneration, sizes.lanes());
      SharedRing made =
          new SharedRing(mapping, layout, sizes.lanes(), flags, generation, peerGeneration, rma);
      done = true;
      return made;
    } finally {
      if (!done) {
        mapping.retire();
      }
    }
  }

  /**
   * Maps a peer's file; empty if its descriptor does not belong to this connection. Such a file is
   * not mapped.
   *
   * @throws PosixException EINVAL if a peer may not pass the file, or its descriptor or its area
   *     for remote memory access is not valid; EFBIG or ENOMEM if it exceeds a limit
   */
  static Optional<SharedRing> attach(
      PassedMemory memory, Predicate<RingLayout.Descriptor> isRight, SealedFile.Limits limits) {
    SealedFile file = memory.file();
    MemorySegment start = file.read(RingLayout.DESCRIPTOR_SIZE);
    RingLayout.Descriptor it =
        RingLayout.readDescriptor(start)
            .orElseThrow(() ->
                new PosixException("mmap", "a file that " + RingLayout.flaw(start), Errno.EINVAL));
    if (!isRight.test(it)) {
      return Optional.empty();
    }
    long allocated = allocatedSize(it.layout());
    SharedMapping mapping = file.map(limits, allocated, Math.min(allocated, MAX_POPULATED));
    boolean done = false;
    try {
      SharedRing ring = attach(mapping, it, memory.sender());
      done = true;
      return Optional.of(ring);
    } finally {
      if (!done) {
        mapping.retire();
      }
    }
  }

  private static SharedRing attach(
      SharedMapping mapping, RingLayout.Descriptor it, Credentials maker) {
    long room = mapping.size() - rmaBufferOffset(it.layout(), it.lanes());
    if (room < 0) {
      throw new PosixException(
          "mmap", "a file that is too small for its " + it.lanes() + " lanes", Errno.EINVAL);
    }
    long allocatable = RmaArea.allocatableSize(mapping.address() + rmaOffset(it.layout()), room);
    if (allocatable < 0) {
      throw invalidRma(it.layout(), "the size of its allocatable memory");
    }
    RmaArea rma = rmaArea(mapping, it.layout(), it.lanes(), allocatable, maker);
    if (!rma.isOf(it.generation())) {
      throw invalidRma(it.layout(), "its magic number, version or generation");
    }
    return new SharedRing(
        mapping, it.layout(), it.lanes(), it.flags(), it.generation(), it.peerGeneration(), rma);
  }

  private static PosixException invalidRma(RingLayout layout, String what) {
    return new PosixException(
        "mmap",
        "a file whose area for remote memory access, at offset "
            + rmaOffset(layout)
            + ", is not valid: "
            + what,
        Errno.EINVAL);
  }

  private static long rmaOffset(RingLayout layout) {
    return layout.ringSize();
  }

  private static long bufferOffset(RingLayout layout) {
    return rmaOffset(layout) + RmaLayout.SIZE;
  }

  /** Returns the size of the parts that are allocated when connecting. The lanes follow. */
  static long allocatedSize(RingLayout layout) {
    return bufferOffset(layout) + layout.bufferSize();
  }

  private static long rmaBufferOffset(RingLayout layout, int lanes) {
    return allocatedSize(layout) + lanes * layout.laneSize();
  }

  private static RmaArea rmaArea(
      SharedMapping mapping, RingLayout layout, int lanes, long allocatable, Credentials maker) {
    long start = rmaBufferOffset(layout, lanes);
    long end = mapping.size() - allocatable;
    return new RmaArea(
        mapping.address() + rmaOffset(layout),
        mapping.address() + start,
        end - start,
        mapping.view().asSlice(end),
        maker);
  }

  /** Returns the memory that this side's program can allocate to expose. */
  AllocatableMemory allocatable() {
    MemorySegment view = rma.allocatable();
    return new AllocatableMemory(mapping, mapping.size() - view.byteSize(), view);
  }

  /** Returns the program's view of the first ring. */
  MemorySegment ring() {
    return mapping.view().asSlice(0, layout.ringSize());
  }

  /** Returns the program's view of its payload lines. */
  MemorySegment buffer() {
    return mapping.view().asSlice(bufferOffset(layout), layout.bufferSize());
  }

  private long laneOffset(int lane) {
    return allocatedSize(layout) + lane * layout.laneSize();
  }

  /** Returns the program's view of the ring of a lane. */
  MemorySegment laneRing(int lane) {
    return mapping.view().asSlice(laneOffset(lane), layout.ringSize());
  }

  /** Returns the program's view of the payload lines of a lane. */
  MemorySegment laneBuffer(int lane) {
    return mapping
        .view()
        .asSlice(laneOffset(lane) + layout.laneBufferOffset(), layout.bufferSize());
  }

  /** Allocates a lane; throws ENOMEM if there is no memory for it. */
  void allocateLane(int lane) {
    allocate(laneOffset(lane), layout.laneSize(), "a sender's lane");
  }

  /** Allocates the buffer for fragments; throws ENOMEM if there is no memory for it. */
  void allocateRmaBuffer() {
    allocate(rmaBufferOffset(layout, lanes), rma.bufferSize(), "a buffer for fragments");
  }

  private void allocate(long offset, long size, String what) {
    if (mapping.populate(offset, size) != 0) {
      throw new PosixException("madvise", what + " of " + size + " bytes", Errno.ENOMEM);
    }
  }

  /**
   * Frees the payload lines, which only this side, the receiver, has read. A stopped peer, or one
   * that keeps the file on purpose, would otherwise keep the memory allocated, at the expense of
   * this process. The rings stay, since the peer's senders may still read them, and so does the
   * buffer for fragments, whose headers the peer may still read.
   */
  void discardBuffers() {
    // if it fails, the memory is freed with the file
    boolean ignored = mapping.discard(bufferOffset(layout), layout.bufferSize());
    for (int lane = 0; lane < lanes; lane++) {
      ignored = mapping.discard(laneOffset(lane) + layout.laneBufferOffset(), layout.bufferSize());
    }
  }

  /** Retires the memory from the data plane, see {@link SharedMapping#retire}. */
  void retire() {
    mapping.retire();
  }

  /**
   * Returns whether the two sides must not rely on membarrier(2): it is not available to one of
   * them, or the side that created this uses readiness, where no thread would check a second time.
   */
  boolean needsFences() {
    return !Membarrier.REGISTERED
        || (flags & RingLayout.FLAG_MEMBARRIER) == 0
        || (flags & RingLayout.FLAG_READINESS) != 0;
  }
}
