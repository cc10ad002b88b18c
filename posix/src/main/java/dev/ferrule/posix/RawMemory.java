// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Memory by absolute address: for the data plane, where a bounded segment for each access would be
 * an allocation, and for structures that C has allocated. An access checks neither bounds nor
 * liveness of an arena. Every address must therefore lie within memory that the caller keeps
 * mapped, and every offset chosen by a peer or a program must be checked before.
 *
 * <p><b>Threads:</b> safe for use by several threads, with the JVM's ordering of plain accesses.
 */
public final class RawMemory {

  /** All memory; the offset of an access is its address. */
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /**
   * Up to this length a copy by single accesses is faster than the call of a copy routine: by 1 ns
   * of 9 at 8 bytes. At 20 bytes the checks of three accesses take as long, at 32 longer.
   */
  private static final int SMALL = 2 * Long.BYTES;

  private static final int ZEROS_SIZE = 2048; // stays in the first-level cache
  private static final MemorySegment ZEROS = Arena.global().allocate(ZEROS_SIZE, 64).asReadOnly();

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  /** Addresses of a process have at most 56 bits on any machine; those of words end in 000. */
  private static final long WORD_ADDRESS = (1L << 56) - Long.BYTES;

  private RawMemory() {}

  /**
   * Returns memory that is accessible as long as an arena is: an automatic one while reachable.
   *
   * @param address its address
   * @param size its size in bytes
   * @param arena the arena
   * @param release called with the memory when the arena ends; null if there is nothing to do
   * @return the memory
   */
  public static MemorySegment segment(
      long address, long size, Arena arena, @Nullable Consumer<MemorySegment> release) {
    return MemorySegment.ofAddress(address).reinterpret(size, arena, release);
  }

  /**
   * Returns the same address with its range and alignment made visible to the JIT compiler, so that
   * an access there needs no check of either.
   *
   * @param address the address of an 8-byte word
   * @return the address
   */
  public static long word(long address) {
    return address & WORD_ADDRESS;
  }

  /**
   * Copies from any segment to an address.
   *
   * @param source the source
   * @param offset the offset in it
   * @param address the destination
   * @param length the number of bytes
   */
  public static void copy(MemorySegment source, long offset, long address, int length) {
    if (length > SMALL) {
      MemorySegment.copy(source, offset, ALL, address, length);
      return;
    }
    // MemorySegment.copy would make the call here as well, since ALL overlaps with every source.
    if (length >= Long.BYTES) {
      ALL.set(LONG, address, source.get(LONG, offset));
      if (length > Long.BYTES) {
        long last = length - Long.BYTES; // may overlap the first
        ALL.set(LONG, address + last, source.get(LONG, offset + last));
      }
      return;
    }
    for (int at = 0; at < length; at++) {
      ALL.set(BYTE, address + at, source.get(BYTE, offset + at));
    }
  }

  /**
   * Fills memory with zeros, without the slice that MemorySegment.fill would need.
   *
   * @param address the address
   * @param length the number of bytes
   */
  public static void clear(long address, long length) {
    for (long at = 0; at < length; at += ZEROS_SIZE) {
      MemorySegment.copy(ZEROS, 0, ALL, address + at, Math.min(length - at, ZEROS_SIZE));
    }
  }

  /**
   * Reads 4 bytes.
   *
   * @param address the address
   * @return the value
   */
  public static int getInt(long address) {
    return ALL.get(INT, address);
  }

  /**
   * Writes 4 bytes.
   *
   * @param address the address
   * @param value the value
   */
  public static void putInt(long address, int value) {
    ALL.set(INT, address, value);
  }

  /**
   * Reads 8 bytes.
   *
   * @param address the address
   * @return the value
   */
  public static long getLong(long address) {
    return ALL.get(LONG, address);
  }

  /**
   * Writes 8 bytes.
   *
   * @param address the address
   * @param value the value
   */
  public static void putLong(long address, long value) {
    ALL.set(LONG, address, value);
  }

  /**
   * Reads one byte, as a number from 0 to 255.
   *
   * @param address the address
   * @return the value
   */
  public static int getByte(long address) {
    return ALL.get(BYTE, address) & 0xff;
  }

  /**
   * Copies bytes into a new array.
   *
   * @param address the address
   * @param length the number of bytes
   * @return the bytes
   */
  public static byte[] bytes(long address, int length) {
    return ALL.asSlice(address, length).toArray(BYTE);
  }

  /**
   * Reads a null-terminated string.
   *
   * @param address the address
   * @return the value
   */
  public static String string(long address) {
    return address == 0 ? "" : ALL.getString(address);
  }

  /**
   * Returns the address of memory.
   *
   * @param memory native memory
   * @return its address
   * @throws IllegalArgumentException if it is on the heap, where it has none
   */
  public static long address(MemorySegment memory) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException("memory on the heap has no address");
    }
    return memory.address();
  }
}
