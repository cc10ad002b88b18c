// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * A C function for the control plane. An error is returned as {@code -errno}. Each method is for
 * one of the conventions by which C functions report errors.
 *
 * <p>The arguments are {@code int}, {@code long}, or {@link MemorySegment} for a pointer; at most
 * six, and two segments. A segment is kept alive and open during the call. A segment behind the
 * sixth argument is only kept alive: another argument's memory contains its address. An integer is
 * passed in 64 bits with its sign, so an unsigned one of 8 or 16 bits is passed as an {@code int}.
 *
 * <p>All functions are called by one method handle, because linking a handle takes milliseconds at
 * the start of a program, and Ferrule calls more than 80 functions. The handle always passes six
 * integers. The calling conventions of x86-64 and aarch64 under Linux pass these in registers, and
 * a function ignores the registers that it has no parameter for. Functions with variable arguments
 * are called in the same way. Functions of the data path have handles of their own, because this
 * handle allocates.
 *
 * <p>Every method throws {@link IllegalArgumentException} for an argument of another type, too many
 * of them, or a segment on the heap; {@link IllegalStateException} for a segment that is closed;
 * and {@link WrongThreadException} for one of another thread. A function that fails without setting
 * errno, as some drivers do, yields {@code -EIO}. Ranges are not checked.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class NativeFunction {

  private static final int MAX_ARGUMENTS = 6;
  private static final int MAX_SEGMENTS = 2;

  private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

  // the function, memory for errno, the arguments, and the segments to keep alive: those are passed
  // behind the arguments, which no function reads except syscall(2): it passes a seventh argument
  // on, but no system call that is made by it here has six arguments
  private static final MethodHandle CALL =
      Linker.nativeLinker()
          .downcallHandle(
              FunctionDescriptor.of(
                  JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                  ADDRESS, ADDRESS),
              CAPTURE);

  /** Lets calls fail in tests, except calls of functions that cannot fail. */
  interface Faults {

    /** Returns the errno with which a call fails without being made; 0 to make the call. */
    int errno(String function);
  }

  static volatile Faults faults = function -> 0;

  /**
   * Returns the errno with which a test lets a call of the data path fail, which is not made by an
   * instance of this class; 0 to make the call.
   */
  static int fault(String function) {
    return faults.errno(function);
  }

  private final String name;
  private final MemorySegment address;

  NativeFunction(String name, MemorySegment address) {
    this.name = name;
    this.address = address;
  }

  /** Returns the function's name. */
  String name() {
    return name;
  }

  /**
   * Calls a function that returns an {@code int}. If it fails, it returns a negative one and sets
   * errno.
   *
   * @param arguments the arguments
   * @return the result, or {@code -errno}
   */
  public int status(Object... arguments) {
    return (int) call(Failure.NEGATIVE_INT, arguments);
  }

  /**
   * Calls a function that returns a {@code long} or a pointer. If it fails, it returns -1 and sets
   * errno.
   *
   * @param arguments the arguments
   * @return the result, or {@code -errno}
   */
  public long longStatus(Object... arguments) {
    return call(Failure.MINUS_ONE, arguments);
  }

  /**
   * Calls a function that returns a pointer. If it fails, it returns NULL and sets errno.
   *
   * @param arguments the arguments
   * @return the address, or {@code -errno}
   */
  public long pointer(Object... arguments) {
    return call(Failure.NULL, arguments);
  }

  /**
   * Calls a function that returns errno instead of setting it.
   *
   * @param arguments the arguments
   * @return 0, or {@code -errno}
   */
  public int error(Object... arguments) {
    return -Math.abs((int) call(Failure.RETURNED, arguments));
  }

  /**
   * Calls a function that cannot fail.
   *
   * @param arguments the arguments
   * @return the result in its lower bits, according to its type; undefined if it returns nothing
   */
  public long plain(Object... arguments) {
    return call(Failure.NONE, arguments);
  }

  /**
   * The conventions by which a function reports that it has failed, and that errno has the cause.
   */
  private enum Failure {
    NONE,
    RETURNED,
    NEGATIVE_INT,
    MINUS_ONE,
    NULL;

    boolean is(long result) {
      return switch (this) {
        case NONE, RETURNED -> false;
        case NEGATIVE_INT -> (int) result < 0;
        case MINUS_ONE -> result == -1;
        case NULL -> result == 0;
      };
    }
  }

  private long call(Failure failure, Object... arguments) {
    long[] values = new long[MAX_ARGUMENTS];
    MemorySegment[] kept = {MemorySegment.NULL, MemorySegment.NULL};
    convert(arguments, values, kept);
    int injected = failure == Failure.NONE ? 0 : faults.errno(name);
    if (injected != 0) {
      return -injected;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result =
          (long)
              CALL.invokeExact(
                  address, state, values[0], values[1], values[2], values[3], values[4], values[5],
                  kept[0], kept[1]);
      return failure.is(result) ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static void convert(Object[] arguments, long[] values, MemorySegment[] kept) {
    int segments = 0;
    for (int i = 0; i < arguments.length; i++) {
      Object argument = arguments[i];
      if (argument instanceof MemorySegment segment) {
        if (segments == MAX_SEGMENTS) {
          throw new IllegalArgumentException("more than " + MAX_SEGMENTS + " segments");
        }
        kept[segments++] = segment;
        if (i < MAX_ARGUMENTS) {
          values[i] = segment.address();
        }
      } else if (i >= MAX_ARGUMENTS) {
        throw new IllegalArgumentException("more than " + MAX_ARGUMENTS + " arguments");
      } else if (argument instanceof Integer || argument instanceof Long) {
        values[i] = ((Number) argument).longValue();
      } else {
        throw new IllegalArgumentException(
            "an argument is an int, a long or a segment, not of " + argument.getClass());
      }
    }
  }

  private static int errno(MemorySegment state) {
    int errno = (int) ERRNO.get(state, 0L);
    return errno == 0 ? Errno.EIO : errno;
  }

  /**
   * Returns what to throw for a throwable of {@link MethodHandle#invokeExact}.
   *
   * @param e the throwable
   * @return the exception to throw; an error is thrown by this method
   */
  public static RuntimeException unexpected(Throwable e) {
    if (e instanceof RuntimeException runtime) {
      return runtime;
    }
    if (e instanceof Error error) {
      throw error;
    }
    throw new AssertionError("a downcall cannot throw a checked exception", e);
  }
}
