// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** poll(2), as a program with an event loop of its own would call it by FFM. */
final class PollCall {

  private static final short POLLIN = 1;
  private static final MethodHandle POLL = poll();

  private PollCall() {}

  @SuppressWarnings("restricted")
  private static MethodHandle poll() {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow("poll"),
        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
  }

  /** Returns whether a descriptor is readable now. */
  static boolean isReadable(int descriptor) {
    return poll(descriptor, 0);
  }

  /** Waits until a descriptor is readable. */
  static void awaitReadable(int descriptor) {
    if (!poll(descriptor, (int) Contract.PATIENCE.toMillis())) {
      throw new AssertionError("the descriptor does not become readable");
    }
  }

  private static boolean poll(int descriptor, int timeoutMs) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment one = arena.allocate(8, 4); // struct pollfd
      one.set(JAVA_INT, 0, descriptor);
      one.set(JAVA_SHORT, 4, POLLIN);
      int count = (int) POLL.invokeExact(one, 1L, timeoutMs);
      return count == 1 && one.get(JAVA_SHORT, 6) == POLLIN;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
