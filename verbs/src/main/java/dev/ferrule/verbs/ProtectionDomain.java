// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.Posix;
import dev.ferrule.verbs.libibverbs.ibv_srq_attr;
import dev.ferrule.verbs.libibverbs.ibv_srq_init_attr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A protection domain ({@code ibv_pd}): queue pairs can access memory of their own domain only.
 *
 * <p><b>Threads:</b> safe for use by several threads. One thread closes it, after all objects
 * created from it.
 */
public final class ProtectionDomain implements AutoCloseable {

  /** The largest base page size of Linux. */
  private static final int LARGEST_PAGE = 1 << 16;

  private static final long PAGE = Posix.PAGE;
  private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

  private final VerbsContext context;
  private final long address;

  ProtectionDomain(VerbsContext context, long address) {
    this.context = context;
    this.address = address;
  }

  /** {@return the context of the device} */
  public VerbsContext context() {
    return context;
  }

  /** {@return the address of the C object} */
  public long address() {
    return address;
  }

  /**
   * Allocates and registers memory. Closing the region frees the memory.
   *
   * @param size its size in bytes, at least 1
   * @param access constants of {@link AccessFlags}, combined by OR
   * @return the region, to be closed; its memory is page-aligned
   * @throws VerbsException if the registration fails, for example because of the limit of locked
   *     memory
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
   * Registers memory of an arena. Closing the arena ends the registration before it frees the
   * memory, so the device never accesses freed memory. Closing the region earlier is allowed.
   *
   * <p>The arena must not be confined to a thread: a confined arena may free the memory before it
   * runs later cleanup actions.
   *
   * @param arena the arena of the memory, shared or automatic
   * @param memory native memory of that arena
   * @param access constants of {@link AccessFlags}, combined by OR
   * @return the region
   * @throws IllegalArgumentException if the memory is not native, if it belongs to another arena,
   *     or if the arena is confined to a thread
   * @throws IllegalStateException if the arena is closed
   * @throws VerbsException if the registration fails, for example because of the limit of locked
   *     memory
   */
  public MemoryRegion register(Arena arena, MemorySegment memory, int access) {
    checkNative(memory);
    if (!memory.scope().equals(arena.scope())) {
      throw new IllegalArgumentException("the memory belongs to another arena");
    }
    if (!memory.isAccessibleBy(ANY_THREAD)) {
      throw new IllegalArgumentException(
          "an arena that is confined to a thread may free the memory before its registration ends;"
              + " use Arena.ofShared()");
    }
    MemoryRegion region = new MemoryRegion(context.calls(), memory, pin(memory, access), null);
    // An arena that is not confined runs cleanup actions in reverse order, so the registration ends
    // before the memory is freed.
    region.closeWith(arena);
    return region;
  }

  /**
   * Registers memory whose arena the caller does not have. The pages stay pinned until the region
   * is closed, even if the memory is freed earlier. Pages of freed memory do not belong to the
   * process's address space any more.
   *
   * @param memory native memory
   * @param access constants of {@link AccessFlags}, combined by OR
   * @return the region, to be closed
   * @throws IllegalArgumentException if the memory is not native
   * @throws VerbsException if the registration fails, for example because of the limit of locked
   *     memory
   */
  public MemoryRegion register(MemorySegment memory, int access) {
    checkNative(memory);
    return new MemoryRegion(context.calls(), memory, pin(memory, access), null);
  }

  /**
   * Registers memory with addresses that start at 0: work requests of this side and of a peer
   * address it by the offset from its start, so no peer learns an address of this process. The
   * memory must be page-aligned. As with {@link #register(MemorySegment, int)}, the pages stay
   * pinned until the region is closed.
   *
   * @param memory native memory
   * @param access constants of {@link AccessFlags}, combined by OR
   * @return the region, to be closed
   * @throws IllegalArgumentException if the memory is not native
   * @throws VerbsException if the registration fails, for example because of the limit of locked
   *     memory
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
   * Registers memory, which need not be page-aligned, with addresses that start at {@link
   * #firstByte} in work requests. Of its address in this process, they disclose the lowest 16 bits
   * to a peer that gets them. As with {@link #register(MemorySegment, int)}, the pages stay pinned
   * until the region is closed.
   *
   * @param memory native memory
   * @param access constants of {@link AccessFlags}, combined by OR
   * @return the region, to be closed
   * @throws IllegalArgumentException if the memory is not native
   * @throws VerbsException if the registration fails, for example because of the limit of locked
   *     memory
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
   * Returns the address of the first byte of {@linkplain #registerRelocated relocated} memory in
   * work requests: its address in this process modulo 64 KiB, the size of the largest page. So the
   * byte has the same offset in its page for both, as devices require.
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
          "heap memory cannot be registered: allocate native memory by an Arena");
    }
  }

  private long pin(MemorySegment memory, int access) {
    return VerbsException.check(
        "ibv_reg_mr",
        memory.byteSize() + " bytes",
        context.calls().regMr(address, memory.address(), memory.byteSize(), access));
  }

  /**
   * Creates a shared receive queue.
   *
   * @param receives the minimum number of receives, at least 1
   * @return the queue, to be closed
   * @throws VerbsException if the device supports none, or none of that size
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
