// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.util.Arrays;

/**
 * Identifies {@linkplain ExposedMemory exposed memory} to the peer of one connection. A handle is
 * an opaque sequence of bytes without addresses, meaningful only to the two sides of that
 * connection.
 *
 * {@snippet lang=java :
 * byte[] shipped = RmaHandle.of(new byte[] {1, 2, 3}).toBytes(); // from ExposedMemory.handle
 * System.out.println(RmaHandle.of(shipped)); // RmaHandle[3 bytes]
 * }
 *
 * <p>Immutable. Two handles are equal if their bytes are.
 */
public final class RmaHandle {

  /**
   * The maximum length of a handle, in bytes. Send it in a message: its memory can be exposed only
   * after the handshake of its connection. The handshake payload of a second connection between the
   * programs can carry it, too.
   */
  public static final int MAX_BYTES = 28;

  private final byte[] bytes;

  private RmaHandle(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * Creates a handle from its bytes.
   *
   * @param bytes the bytes that {@link #toBytes} returned at the peer; they are validated when the
   *     handle is {@linkplain Rma#attach attached}
   * @return the handle
   * @throws RemoteAccessException if the length is 0 or exceeds {@link #MAX_BYTES}
   */
  public static RmaHandle of(byte[] bytes) {
    if (bytes.length == 0 || bytes.length > MAX_BYTES) {
      throw new RemoteAccessException(
          null, "invalid handle: " + bytes.length + " bytes; a handle has 1 to " + MAX_BYTES, null);
    }
    return new RmaHandle(bytes.clone());
  }

  /** {@return a copy of the bytes of the handle, to be sent to the peer} */
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

  /** {@return a text without the bytes, which over RDMA give access to the memory} */
  @Override
  public String toString() {
    return "RmaHandle[" + bytes.length + " bytes]";
  }
}
