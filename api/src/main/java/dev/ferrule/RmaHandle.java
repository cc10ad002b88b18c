// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * Names {@linkplain ExposedMemory exposed memory} to the peer of one connection: some bytes,
 * without an address in them, which only that connection's two sides can make something of.
 *
 * {@snippet lang=java :
 * byte[] shipped = RmaHandle.of(new byte[] {1, 2, 3}).toBytes(); // in real life by ExposedMemory.handle
 * System.out.println(RmaHandle.of(shipped)); // RmaHandle[010203]
 * }
 *
 * <p>Immutable; equal if the bytes are.
 */
public final class RmaHandle {

  /** The most bytes that a handle has: one always fits into a handshake's or message's payload. */
  public static final int MAX_BYTES = 32;

  private final byte[] bytes;

  private RmaHandle(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * Makes a handle of the bytes of one.
   *
   * @param bytes what {@link #toBytes} returned at the peer; whether they are right is found out
   *     when the handle is {@linkplain Rma#attach attached}
   * @return the handle
   * @throws IllegalArgumentException if there are none, or more than {@link #MAX_BYTES}
   */
  public static RmaHandle of(byte[] bytes) {
    if (bytes.length == 0 || bytes.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a handle of " + bytes.length + " bytes; handles have 1 to " + MAX_BYTES);
    }
    return new RmaHandle(bytes.clone());
  }

  /**
   * Returns the bytes, to be sent to the peer.
   *
   * @return a copy of the bytes
   */
  public byte[] toBytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RmaHandle handle && Arrays.equals(bytes, handle.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return "RmaHandle[" + HexFormat.of().formatHex(bytes) + "]";
  }
}
