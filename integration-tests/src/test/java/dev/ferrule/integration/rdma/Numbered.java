// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Messages whose bytes depend on their number, so that a lost or duplicated one is detected. */
final class Numbered {

  static final int LONGEST = 1000;

  private Numbered() {}

  static byte[] message(int number) {
    byte[] bytes = new byte[Integer.BYTES + Math.floorMod(number * 37, LONGEST - Integer.BYTES)];
    Arrays.fill(bytes, (byte) number);
    MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_INT_UNALIGNED, 0, number);
    return bytes;
  }

  static long send(Sender sender, int number) {
    return sender.send(MemorySegment.ofArray(message(number)));
  }

  static void check(MemorySegment received, int number) {
    MemorySegment wanted = MemorySegment.ofArray(message(number));
    if (received.mismatch(wanted) != -1) {
      throw new AssertionError(
          "expected message "
              + number
              + ", received one of "
              + received.byteSize()
              + " bytes"
              + (received.byteSize() < Integer.BYTES
                  ? ""
                  : " with the number " + received.get(ValueLayout.JAVA_INT_UNALIGNED, 0)));
    }
  }

  static void check(ReceiveRegion received, int number) {
    check(received.segment(), number);
  }
}
