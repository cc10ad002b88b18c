// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.bindings.libc.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Map;

/**
 * Reads one word of another process's memory; run by the child process of {@link
 * CrossMemoryAttachCheck}.
 */
public final class CmaProbe {

  private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = CALL_STATE.varHandle(PathElement.groupElement("errno"));

  /** The generated handle drops errno, which is the result here. */
  private static final MethodHandle PROCESS_VM_READV =
      Linker.nativeLinker()
          .downcallHandle(
              LibC.process_vm_readv$address(),
              LibC.process_vm_readv$descriptor(),
              Linker.Option.captureCallState("errno"));

  private static final Map<Integer, String> ERRORS =
      Map.of(
          1,
          "EPERM (not permitted)",
          3,
          "ESRCH (no such process)",
          14,
          "EFAULT (bad address)",
          38,
          "ENOSYS (no such call)");

  private CmaProbe() {}

  /**
   * Reads a word.
   *
   * @param pid the other process
   * @param address where in its memory the word is
   * @return {@link #success} of the word, or the error's name
   */
  public static String read(int pid, long address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
      MemorySegment local = vector(arena, word);
      MemorySegment remote = vector(arena, MemorySegment.ofAddress(address));
      MemorySegment state = arena.allocate(CALL_STATE);
      long read = (long) PROCESS_VM_READV.invokeExact(state, pid, local, 1L, remote, 1L, 0L);
      if (read != Long.BYTES) {
        int errno = (int) ERRNO.get(state, 0L);
        return ERRORS.getOrDefault(errno, "errno " + errno);
      }
      return success(word.get(ValueLayout.JAVA_LONG, 0));
    } catch (Throwable e) {
      throw new IllegalStateException("process_vm_readv", e);
    }
  }

  static String success(long word) {
    return "read " + word;
  }

  private static MemorySegment vector(Arena arena, MemorySegment base) {
    MemorySegment vector = arena.allocate(iovec.layout());
    iovec.iov_base(vector, base);
    iovec.iov_len(vector, Long.BYTES);
    return vector;
  }
}
