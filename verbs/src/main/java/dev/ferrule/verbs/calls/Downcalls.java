// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import dev.ferrule.verbs.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Calls C functions and captures errno. The generated bindings do not capture it, so the functions
 * are linked again from their addresses.
 */
final class Downcalls {

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

  /** A call, with memory for errno. */
  interface Call {
    long run(MemorySegment state) throws Throwable;
  }

  private Downcalls() {}

  /** Links a function; the handle's first argument is the memory for errno. */
  static MethodHandle link(MemorySegment address, MemoryLayout result, MemoryLayout... arguments) {
    return LINKER.downcallHandle(address, FunctionDescriptor.of(result, arguments), CAPTURE);
  }

  /** Links a function without a result. */
  static MethodHandle linkVoid(MemorySegment address, MemoryLayout... arguments) {
    return LINKER.downcallHandle(address, FunctionDescriptor.ofVoid(arguments), CAPTURE);
  }

  /**
   * Links functions of a device's driver; the handle's first argument is the function.
   *
   * @param critical whether they are so short that a safepoint may wait for them
   */
  static MethodHandle linkDevices(
      boolean critical, MemoryLayout result, MemoryLayout... arguments) {
    FunctionDescriptor descriptor = FunctionDescriptor.of(result, arguments);
    return critical
        ? LINKER.downcallHandle(descriptor, Linker.Option.critical(false))
        : LINKER.downcallHandle(descriptor);
  }

  /** Calls a function that returns NULL and sets errno; returns the pointer, or -errno. */
  static long pointer(Call call) {
    return run(call, result -> result == 0);
  }

  /** Calls a function that returns MAP_FAILED and sets errno; returns the address, or -errno. */
  static long mapping(Call call) {
    return run(call, result -> result == -1);
  }

  /** Calls a function that returns -1 and sets errno; returns the result, or -errno. */
  static int status(Call call) {
    return (int) run(call, result -> result < 0);
  }

  /** Calls a function that returns errno instead of setting it; returns 0, or -errno. */
  static int error(Call call) {
    int result = (int) run(call, ignored -> false);
    return result > 0 ? -result : result;
  }

  /** Calls a function that cannot fail. */
  static long plain(Call call) {
    return run(call, ignored -> false);
  }

  private interface Test {
    boolean isFailure(long result);
  }

  private static long run(Call call, Test test) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = call.run(state);
      if (!test.isFailure(result)) {
        return result;
      }
      int errno = (int) ERRNO.get(state, 0L);
      return errno == 0 ? -Errno.EIO : -errno; // some drivers do not set it
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static RuntimeException unexpected(Throwable e) {
    if (e instanceof RuntimeException runtime) {
      return runtime;
    }
    if (e instanceof Error error) {
      throw error;
    }
    throw new AssertionError("a downcall cannot throw a checked exception", e);
  }
}
