// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;

/** The bytes of which all messages are slices, the same in each process. */
final class Contents {

  static final int SIZE = 1 << 18;

  private static final byte[] BYTES = new byte[SIZE];

  static {
    new Random(7).nextBytes(BYTES);
  }

  private Contents() {}

  /** Returns a copy in native memory. */
  static MemorySegment in(Arena arena) {
    return arena.allocateFrom(ValueLayout.JAVA_BYTE, BYTES);
  }

  /** Describes a slice, which is named by its offset and length, as in {@code 17:100}. */
  static String describe(String place) {
    return describe(MemorySegment.ofArray(slice(place)));
  }

  /**
   * Returns the bytes of a slice, which is named by its offset and length, as in {@code 17:100}.
   */
  static byte[] slice(String place) {
    String[] words = place.split(":");
    int offset = Integer.parseInt(words[0]);
    return Arrays.copyOfRange(BYTES, offset, offset + Integer.parseInt(words[1]));
  }

  /** Describes a message: its length and checksum. */
  static String describe(MemorySegment message) {
    CRC32 crc = new CRC32();
    crc.update(message.toArray(ValueLayout.JAVA_BYTE));
    return message.byteSize() + ":" + Long.toHexString(crc.getValue());
  }
}
