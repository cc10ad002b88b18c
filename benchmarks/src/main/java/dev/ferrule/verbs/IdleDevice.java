// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.libc.LibC;
import dev.ferrule.verbs.calls.NativeVerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_context;
import dev.ferrule.verbs.libibverbs.ibv_context_ops;
import dev.ferrule.verbs.libibverbs.ibv_qp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A device whose functions do nothing: each is two machine instructions. What remains is Java's
 * cost of posting and polling. Needs libibverbs, but no RDMA device.
 */
final class IdleDevice {

  private static final long PAGE = 4096;

  /** The offsets of the functions in their page. */
  private static final long RETURN_ZERO = 0;

  private static final long RETURN_COUNT = 64;

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment code = machineCode();
  private final VerbsContext context = new VerbsContext(new NativeVerbsCalls(), contextOf(), false);

  /** Returns a function that takes three arguments and returns 0. */
  MemorySegment noOperation() {
    return code.asSlice(RETURN_ZERO);
  }

  QueuePair queuePair() {
    return new QueuePair(
        context, ibv_qp.allocate(arena).address(), new QueuePairSizes(1024, 1024, 220));
  }

  /**
   * Returns a queue whose every poll yields as many completions as it asks for, always the same
   * ones.
   */
  CompletionQueue completionQueue() {
    return new CompletionQueue(context, ibv_qp.allocate(arena).address());
  }

  private long contextOf() {
    MemorySegment memory = ibv_context.allocate(arena);
    MemorySegment operations = ibv_context.ops(memory);
    ibv_context_ops.post_send(operations, code.asSlice(RETURN_ZERO));
    ibv_context_ops.post_recv(operations, code.asSlice(RETURN_ZERO));
    ibv_context_ops.post_srq_recv(operations, code.asSlice(RETURN_ZERO));
    ibv_context_ops.poll_cq(operations, code.asSlice(RETURN_COUNT));
    ibv_context_ops.req_notify_cq(operations, code.asSlice(RETURN_ZERO));
    return memory.address();
  }

  private static MemorySegment machineCode() {
    String architecture = System.getProperty("os.arch");
    int[] returnZero;
    int[] returnCount;
    switch (architecture) {
      case "amd64" -> {
        returnZero = new int[] {0x90c3c031}; // xor eax, eax; ret; nop
        returnCount = new int[] {0x90c3f089}; // mov eax, esi; ret; nop
      }
      case "aarch64" -> {
        returnZero = new int[] {0x52800000, 0xd65f03c0}; // mov w0, #0; ret
        returnCount = new int[] {0x2a0103e0, 0xd65f03c0}; // mov w0, w1; ret
      }
      default ->
          throw new UnsupportedOperationException(
              "no machine code for " + architecture + ", only for amd64 and aarch64");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment page = arena.allocate(PAGE);
      put(page, RETURN_ZERO, returnZero);
      put(page, RETURN_COUNT, returnCount);
      return executable(page);
    }
  }

  /**
   * Returns an executable copy, in pages of a file, so that no page is ever both writable and
   * executable.
   */
  private static MemorySegment executable(MemorySegment page) {
    try (Arena arena = Arena.ofConfined()) {
      int file = LibC.memfd_create(arena.allocateFrom("ferrule-idle-device"), LibC.MFD_CLOEXEC());
      LibC.write(file, page, PAGE);
      MemorySegment code =
          LibC.mmap(
              MemorySegment.NULL,
              PAGE,
              LibC.PROT_READ() | LibC.PROT_EXEC(),
              LibC.MAP_PRIVATE(),
              file,
              0);
      LibC.close(file);
      if (code.address() == -1) {
        throw new UnsupportedOperationException("the system does not allow executable memory");
      }
      return code.reinterpret(PAGE);
    }
  }

  private static void put(MemorySegment page, long offset, int[] instructions) {
    for (int i = 0; i < instructions.length; i++) {
      page.set(
          ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN),
          offset + (long) i * Integer.BYTES,
          instructions[i]);
    }
  }
}
