// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_srq_attr;
import dev.ferrule.bindings.verbs.ibv_srq_init_attr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A protection domain ({@code ibv_pd}): queue pairs may use the memory of their own domain only.
 *
 * <p><b>Threads:</b> any number of threads may use one; closing is for one of them, when all that
 * was made of it is closed.
 */
public final class ProtectionDomain implements AutoCloseable {

  /** No system has larger pages, of the ordinary ones. */
  private static final int LARGEST_PAGE = 1 << 16;

  private static final long PAGE = 4096;
  private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

  private final VerbsContext context;
  private final long address;

  ProtectionDomain(VerbsContext context, long address) {
    this.context = context;
    this.address = address;
  }

  /**
   * Returns the device.
   *
   * @return its context
   */
  public VerbsContext context() {
    return context;
  }

  /**
   * Returns the address of the C object.
   *
   * @return the address of the {@code ibv_pd}
   */
  public long address() {
    return address;
  }

  /**
   * Allocates memory and registers it. The memory goes with the region, and not before.
   *
   * @param size its size in bytes, at least 1
   * @param access the sum of constants of {@link Access}
   * @return the region, to be closed; its memory starts at a page
   * @throws VerbsException if too little memory may be locked
   */
  public MemoryRegion allocate(long size, int access) {
    Arena arena = Arena.ofShared();
    boolean done = false;
    try {
      MemorySegment memory = arena.allocate(size, PAGE);
      MemoryRegion region = new MemoryRegion(context.calls(), memory, pin(memory, access), arena);
      done = true;
      return region;
    } finally {
      if (!done) {
        arena.close();
      }
    }
  }

  /**
   * Registers memory of an arena. Closing the arena ends the registration first and frees the
   * memory then, so that the device never has memory that is somebody else's by now. Closing the
   * region earlier is allowed.
   *
   * <p>The arena may not be confined to a thread: the JDK's frees what was allocated first before
   * it does anything else.
   *
   * @param arena the arena that the memory was allocated by, shared or automatic
   * @param memory native memory of that arena
   * @param access the sum of constants of {@link Access}
   * @return the region
   * @throws IllegalArgumentException if the memory is not native, or not that arena's, or if the
   *     arena is confined to a thread
   * @throws IllegalStateException if the arena is closed
   * @throws VerbsException if too little memory may be locked
   */
  public MemoryRegion register(Arena arena, MemorySegment memory, int access) {
    checkNative(memory);
    if (!memory.scope().equals(arena.scope())) {
      throw new IllegalArgumentException("the memory is not of that arena");
    }
    if (!memory.isAccessibleBy(ANY_THREAD)) {
      throw new IllegalArgumentException(
          "an arena that is confined to a thread may free the memory before its registration ends;"
              + " use Arena.ofShared()");
    }
    MemoryRegion region = new MemoryRegion(context.calls(), memory, pin(memory, access), null);
    // An arena that is not confined cleans up in the reverse order, so this comes before the memory
    // is freed.
    region.closeWith(arena);
    return region;
  }

  /**
   * Registers memory of which the caller does not have the arena. The device keeps the memory's
   * pages until the region is closed, even if the memory is freed before; they are nobody's then.
   *
   * @param memory native memory
   * @param access the sum of constants of {@link Access}
   * @return the region, to be closed
   * @throws IllegalArgumentException if the memory is not native
   * @throws VerbsException if too little memory may be locked
   */
  public MemoryRegion register(MemorySegment memory, int access) {
    checkNative(memory);
    return new MemoryRegion(context.calls(), memory, pin(memory, access), null);
  }

  /**
   * Registers memory in which work requests, this side's and a peer's, name bytes by their offset
   * from its start and not by an address; so that no peer need be told an address of this process.
   * It has to begin at a page. As with {@link #register(MemorySegment, int)}, the pages stay the
   * device's until the region is closed.
   *
   * @param memory native memory
   * @param access the sum of constants of {@link Access}
   * @return the region, to be closed
   * @throws IllegalArgumentException if the memory is not native
   * @throws VerbsException if too little memory may be locked
   */
  public MemoryRegion registerZeroBased(MemorySegment memory, int access) {
    checkNative(memory);
    long region =
        VerbsException.check(
            "ibv_reg_mr_iova2",
            memory.byteSize() + " bytes",
            context.calls().regMrIova(address, memory.address(), memory.byteSize(), 0, access));
    return new MemoryRegion(context.calls(), memory, region, null);
  }

  /**
   * Registers memory that need not begin at a page, in which work requests name bytes by numbers
   * that begin with {@link #firstByte} and say nothing about where it is in this process. As with
   * {@link #register(MemorySegment, int)}, the pages stay the device's until the region is closed.
   *
   * @param memory native memory
   * @param access the sum of constants of {@link Access}
   * @return the region, to be closed
   * @throws IllegalArgumentException if the memory is not native
   * @throws VerbsException if too little memory may be locked
   */
  public MemoryRegion registerRelocated(MemorySegment memory, int access) {
    checkNative(memory);
    long region =
        VerbsException.check(
            "ibv_reg_mr_iova2",
            memory.byteSize() + " bytes",
            context
                .calls()
                .regMrIova(
                    address, memory.address(), memory.byteSize(), firstByte(memory), access));
    return new MemoryRegion(context.calls(), memory, region, null);
  }

  /**
   * Returns by which number work requests name the first byte of {@linkplain #registerRelocated
   * relocated} memory: devices demand that it is at the same place in its page as it really is.
   *
   * @param memory the memory
   * @return 0 to 65,535
   */
  public static int firstByte(MemorySegment memory) {
    return (int) memory.address() & LARGEST_PAGE - 1;
  }

  private static void checkNative(MemorySegment memory) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException(
          "memory on the heap cannot be registered; allocate it by an Arena");
    }
  }

  private long pin(MemorySegment memory, int access) {
    return VerbsException.check(
        "ibv_reg_mr",
        memory.byteSize() + " bytes",
        context.calls().regMr(address, memory.address(), memory.byteSize(), access));
  }

  /**
   * Makes a shared receive queue.
   *
   * @param receives how many receives it has to hold, at least 1
   * @return the queue, to be closed
   * @throws VerbsException if the device has none, or none of that size
   */
  public SharedReceiveQueue createSharedReceiveQueue(int receives) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = ibv_srq_init_attr.allocate(arena);
      MemorySegment sizes = ibv_srq_init_attr.attr(attributes);
      ibv_srq_attr.max_wr(sizes, receives);
      ibv_srq_attr.max_sge(sizes, 1);
      return new SharedReceiveQueue(
          context,
          VerbsException.check(
              "ibv_create_srq",
              receives + " receives",
              context.calls().createSrq(address, attributes)));
    }
  }

  @Override
  public void close() {
    VerbsException.check("ibv_dealloc_pd", "", context.calls().deallocPd(address));
  }
}
