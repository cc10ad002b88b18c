// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/**
 * A C library, which stays loaded.
 *
 * {@snippet lang=java :
 * NativeFunction mkdir = NativeLibrary.C.function("mkdir");
 * try (Arena arena = Arena.ofConfined()) {
 *   int result = mkdir.status(arena.allocateFrom("/tmp/new"), 0700); // 0, or -errno
 * }
 * }
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class NativeLibrary {

  /** The C library of the process. */
  public static final NativeLibrary C = new NativeLibrary(Linker.nativeLinker().defaultLookup());

  private final SymbolLookup symbols;

  private NativeLibrary(SymbolLookup symbols) {
    this.symbols = symbols;
  }

  /**
   * Loads a library.
   *
   * @param name its file name, such as {@code libibverbs.so.1}, which the dynamic linker finds
   * @return the library
   * @throws UnsatisfiedLinkError if it is not installed
   * @throws IllegalCallerException if the JVM does not permit calls of C functions
   */
  public static NativeLibrary load(String name) {
    try {
      return new NativeLibrary(SymbolLookup.libraryLookup(name, Arena.global()));
    } catch (IllegalArgumentException e) {
      throw (UnsatisfiedLinkError)
          new UnsatisfiedLinkError(
                  "the library "
                      + name
                      + " cannot be loaded; install it, or add its folder to LD_LIBRARY_PATH")
              .initCause(e);
    }
  }

  /**
   * Returns one of its functions that has at most six parameters, all of them integers or pointers.
   *
   * @param name the function's name
   * @return the function
   * @throws UnsatisfiedLinkError if the library has no such function
   */
  public NativeFunction function(String name) {
    return new NativeFunction(name, address(name));
  }

  /**
   * Returns the address of a function, for a method handle of its own.
   *
   * @param name the function's name
   * @return the address
   * @throws UnsatisfiedLinkError if the library has no such function
   */
  MemorySegment address(String name) {
    return symbols
        .find(name)
        .orElseThrow(() ->
            new UnsatisfiedLinkError(
                "the library has no function " + name + "; install a later version"));
  }
}
