// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * Memory by absolute address: structures that C has allocated, and the data path, where a segment
 * of the right bounds for each access would have to be allocated. Nothing is checked here, so an
 * address that comes from a program or a peer has to be checked before.
 */
public final class RawMemory {

  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private RawMemory() {}

  /**
   * Reads 4 bytes.
   *
   * @param address where
   * @return what is there
   */
  public static int getInt(long address) {
    return ALL.get(JAVA_INT_UNALIGNED, address);
  }

  /**
   * Writes 4 bytes.
   *
   * @param address where
   * @param value what to put there
   */
  public static void putInt(long address, int value) {
    ALL.set(JAVA_INT_UNALIGNED, address, value);
  }

  /**
   * Reads 8 bytes.
   *
   * @param address where
   * @return what is there
   */
  public static long getLong(long address) {
    return ALL.get(JAVA_LONG_UNALIGNED, address);
  }

  /**
   * Writes 8 bytes.
   *
   * @param address where
   * @param value what to put there
   */
  public static void putLong(long address, long value) {
    ALL.set(JAVA_LONG_UNALIGNED, address, value);
  }

  /**
   * Reads one byte, as a number from 0 to 255.
   *
   * @param address where
   * @return what is there
   */
  public static int getByte(long address) {
    return ALL.get(JAVA_BYTE, address) & 0xff;
  }

  /**
   * Copies bytes into a new array.
   *
   * @param address where
   * @param length how many
   * @return the bytes
   */
  public static byte[] bytes(long address, int length) {
    return ALL.asSlice(address, length).toArray(JAVA_BYTE);
  }

  /**
   * Reads a string that ends with a zero byte.
   *
   * @param address where
   * @return what is there
   */
  public static String string(long address) {
    return address == 0 ? "" : ALL.getString(address);
  }
}
