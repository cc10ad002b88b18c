// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.posix.libc.LibC;
import dev.ferrule.posix.libc.iovec;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The pages that are mapped at its creation, pinned by a read fault as the KNEM driver pins a
 * region for reading: {@code vmsplice} has the kernel put them into a pipe. A later read returns
 * the current contents of these pages, whether or not the process still has them mapped.
 */
final class PinnedPages implements AutoCloseable {

  private static final long PAGE = 4096; // a larger page is several pieces of one
  private static final int MAX_PAGES = 256; // the capacity of a pipe without privileges

  private static final AddressLayout POINTER = ValueLayout.ADDRESS;
  private static final MethodHandle VMSPLICE =
      link(
          "vmsplice",
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              POINTER,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT));
  private static final MethodHandle TEE =
      link(
          "tee",
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT));

  private final Arena arena = Arena.ofShared();
  private final long inFirstPage;
  private final long size;
  private final Pipe pinned;
  private final Pipe copies;

  private final class Pipe {
    private final int out;
    private final int in;

    Pipe(int pages) {
      MemorySegment ends = arena.allocate(ValueLayout.JAVA_INT, 2);
      check(LibC.pipe2(ends, LibC.O_CLOEXEC()), "pipe2");
      out = ends.getAtIndex(ValueLayout.JAVA_INT, 0);
      in = ends.getAtIndex(ValueLayout.JAVA_INT, 1);
      check(
          LibC.fcntl
              .makeInvoker(ValueLayout.JAVA_INT)
              .apply(in, LibC.F_SETPIPE_SZ(), (int) (pages * PAGE)),
          "F_SETPIPE_SZ");
    }

    void close() {
      LibC.close(out);
      LibC.close(in);
    }
  }

  /**
   * Pins the pages of a piece of memory.
   *
   * @param address its address
   * @param length its length in bytes
   */
  PinnedPages(long address, long length) {
    inFirstPage = address % PAGE;
    size = (inFirstPage + length + PAGE - 1) / PAGE * PAGE;
    int pages = Math.toIntExact(size / PAGE);
    if (pages > MAX_PAGES) {
      throw new AssertionError("regions for reading are limited to " + MAX_PAGES + " pages here");
    }
    pinned = new Pipe(pages);
    copies = new Pipe(pages);
    MemorySegment vector = iovec.allocate(arena);
    iovec.iov_base(vector, MemorySegment.ofAddress(address - inFirstPage));
    iovec.iov_len(vector, size);
    try {
      checkSize((long) VMSPLICE.invokeExact(pinned.in, vector, 1L, 0), "vmsplice");
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Reads the current contents of the pages.
   *
   * @param offset from the start of the memory
   * @param into the destination
   */
  synchronized void read(long offset, MemorySegment into) {
    try (Arena scratch = Arena.ofConfined()) {
      checkSize((long) TEE.invokeExact(pinned.out, copies.in, size, 0), "tee");
      MemorySegment all = scratch.allocate(size);
      for (long done = 0; done < size; ) {
        long count = LibC.read(copies.out, all.asSlice(done), size - done);
        check(count, "read");
        done += count;
      }
      into.copyFrom(all.asSlice(inFirstPage + offset, into.byteSize()));
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private void checkSize(long result, String function) {
    if (result != size) {
      throw new AssertionError(function + ": " + result + " of " + size);
    }
  }

  private static void check(long result, String function) {
    if (result < 0) {
      throw new AssertionError(function);
    }
  }

  @Override
  public void close() {
    pinned.close();
    copies.close();
    arena.close();
  }

  private static MethodHandle link(String name, FunctionDescriptor descriptor) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
  }
}
