// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.calls;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * Access to memory by absolute address: for structures that C has allocated, and for the data path,
 * where a bounded segment for each access would be an allocation. Addresses are not checked, so the
 * caller checks those that come from a program or a peer.
 */
public final class RawMemory {

  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private RawMemory() {}

  /**
   * Reads 4 bytes.
   *
   * @param address the address
   * @return the value
   */
  public static int getInt(long address) {
    return ALL.get(JAVA_INT_UNALIGNED, address);
  }

  /**
   * Writes 4 bytes.
   *
   * @param address the address
   * @param value the value
   */
  public static void putInt(long address, int value) {
    ALL.set(JAVA_INT_UNALIGNED, address, value);
  }

  /**
   * Reads 8 bytes.
   *
   * @param address the address
   * @return the value
   */
  public static long getLong(long address) {
    return ALL.get(JAVA_LONG_UNALIGNED, address);
  }

  /**
   * Writes 8 bytes.
   *
   * @param address the address
   * @param value the value
   */
  public static void putLong(long address, long value) {
    ALL.set(JAVA_LONG_UNALIGNED, address, value);
  }

  /**
   * Reads one byte, as a number from 0 to 255.
   *
   * @param address the address
   * @return the value
   */
  public static int getByte(long address) {
    return ALL.get(JAVA_BYTE, address) & 0xff;
  }

  /**
   * Copies bytes into a new array.
   *
   * @param address the address
   * @param length the number of bytes
   * @return the bytes
   */
  public static byte[] bytes(long address, int length) {
    return ALL.asSlice(address, length).toArray(JAVA_BYTE);
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
}
