// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The content of messages: a value in the first 8 bytes, then a pattern. */
public final class Payload {

  private static final int PERIOD = 251; // a prime, so that no two cache lines are equal

  private Payload() {}

  /**
   * Returns the longest message in a direct buffer, in native byte order; shorter ones are a
   * prefix. Its value is 0.
   */
  public static ByteBuffer longest() {
    ByteBuffer buffer =
        ByteBuffer.allocateDirect(Transport.LONGEST_OVER_RDMA).order(ByteOrder.nativeOrder());
    for (int i = Long.BYTES; i < Transport.LONGEST_OVER_RDMA; i++) {
      buffer.put(i, (byte) (i % PERIOD));
    }
    return buffer;
  }

  public static byte[] bytes(long value, int length) {
    byte[] bytes = new byte[length];
    longest().putLong(0, value).get(0, bytes);
    return bytes;
  }
}
