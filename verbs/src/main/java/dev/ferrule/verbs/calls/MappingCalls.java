// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.ferrule.bindings.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The functions of the C library for memory files and mappings. They return the result of C, or
 * {@code -errno}.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class MappingCalls {

  private static final MethodHandle MEMFD_CREATE =
      Downcalls.link(LibC.memfd_create$address(), JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle FTRUNCATE =
      Downcalls.link(LibC.ftruncate$address(), JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle FALLOCATE =
      Downcalls.link(LibC.fallocate$address(), JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle MMAP =
      Downcalls.link(
          LibC.mmap$address(),
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_LONG);
  private static final MethodHandle MUNMAP =
      Downcalls.link(LibC.munmap$address(), JAVA_INT, JAVA_LONG, JAVA_LONG);

  private MappingCalls() {}

  /**
   * {@code memfd_create(2)}.
   *
   * @param name the name, which /proc shows
   * @param flags the flags
   * @return the descriptor
   */
  public static int memfdCreate(String name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom(name);
      return Downcalls.status(state -> (int) MEMFD_CREATE.invokeExact(state, text, flags));
    }
  }

  /**
   * {@code ftruncate(2)}.
   *
   * @param descriptor the file
   * @param size its new size in bytes
   * @return 0
   */
  public static int ftruncate(int descriptor, long size) {
    return Downcalls.status(state -> (int) FTRUNCATE.invokeExact(state, descriptor, size));
  }

  /**
   * {@code fallocate(2)}, so that a later access to this part of the file cannot fail.
   *
   * @param descriptor the file
   * @param offset the offset of the part
   * @param size its size in bytes
   * @return 0
   */
  public static int fallocate(int descriptor, long offset, long size) {
    return Downcalls.status(
        state -> (int) FALLOCATE.invokeExact(state, descriptor, 0, offset, size));
  }

  /**
   * {@code mmap(2)}.
   *
   * @param address the address hint, or 0
   * @param size the size in bytes
   * @param protection the protection
   * @param flags the flags
   * @param descriptor the file, or -1
   * @return the address
   */
  public static long mmap(long address, long size, int protection, int flags, int descriptor) {
    return Downcalls.mapping(
        state -> (long) MMAP.invokeExact(state, address, size, protection, flags, descriptor, 0L));
  }

  /**
   * {@code munmap(2)}.
   *
   * @param address the address
   * @param size the size in bytes
   * @return 0
   */
  public static int munmap(long address, long size) {
    return Downcalls.status(state -> (int) MUNMAP.invokeExact(state, address, size));
  }

  /**
   * {@code close(2)}; its result is ignored.
   *
   * @param descriptor the file
   */
  public static void close(int descriptor) {
    LibC.close(descriptor);
  }
}
