// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.wire;

import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.rdma.connection.HelloBody;
import dev.ferrule.rdma.connection.HelloFormat;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A side's offer in its hello: the ring that its peer may write to. Bit 0 of the flags means a
 * plain mapping, bit 1 a simplex connection. The body, little-endian:
 *
 * <pre>
 *  0  4  the ring's key
 *  4  4  the ring's size in units of 4 KiB; 0: no ring
 *  8  4  the longest message that this side receives
 * 12  2  window: maximum number of unacknowledged messages, 1 to 32767
 * 14  2  zero
 * </pre>
 *
 * <p>The device addresses the ring by offsets, so the offer contains no address. In a simplex
 * connection, only the connecting side sends messages. That side has no ring, so its key, size and
 * longest message are zero.
 *
 * @param plain whether the ring is mapped once instead of twice
 * @param simplex whether only the connecting side sends
 * @param key the remote key of this side's ring
 * @param ringSize the size of this side's ring in bytes, or 0
 * @param maxMessage the longest message that this side receives, in bytes
 * @param window the maximum number of unacknowledged messages
 */
public record RingOffer(
    boolean plain, boolean simplex, int key, long ringSize, int maxMessage, int window) {

  /** The protocol version of this implementation. */
  public static final int VERSION = 1;

  /** The unit of ring sizes, in bytes. */
  public static final int UNIT = 4096;

  /** The longest message of any ring, in bytes. The immediate data contains the length. */
  public static final int MAX_MESSAGE = 1 << 30;

  /** The maximum window. */
  public static final int MAX_WINDOW = 0x7fff;

  private static final int MAGIC = 0x726d7246; // "Frmr"
  private static final int SIZE = 16;
  private static final long MAX_UNITS = 0xffff_ffffL;
  private static final int FLAG_PLAIN = 1;
  private static final int FLAG_SIMPLEX = 2;

  /** The format of the enclosing hello. */
  public static final HelloFormat HELLO =
      new HelloFormat(MAGIC, VERSION, SIZE, (kind, body) -> encodes(kind, body));

  /**
   * Returns whether a ring may have a given size.
   *
   * @param size the size in bytes
   * @return true if the size is valid
   */
  public static boolean isRingSize(long size) {
    return size > 0 && size % UNIT == 0 && size / UNIT <= MAX_UNITS;
  }

  /**
   * Validates a window.
   *
   * @param window the maximum number of unacknowledged messages
   * @return the window
   * @throws IllegalArgumentException if it is not from 1 to {@link #MAX_WINDOW}
   */
  public static int checkWindow(int window) {
    if (window < 1 || window > MAX_WINDOW) {
      throw new IllegalArgumentException(
          "invalid window: " + window + " messages; it must be from 1 to " + MAX_WINDOW);
    }
    return window;
  }

  /**
   * Decodes the peer's offer.
   *
   * @param hello the peer's hello
   * @return the offer
   */
  public static RingOffer of(Hello hello) {
    return read(hello.body());
  }

  private static RingOffer read(HelloBody body) {
    ByteBuffer buffer = ByteBuffer.wrap(body.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    return new RingOffer(
        (body.flags() & FLAG_PLAIN) != 0,
        (body.flags() & FLAG_SIMPLEX) != 0,
        buffer.getInt(),
        Integer.toUnsignedLong(buffer.getInt()) * UNIT,
        buffer.getInt(),
        buffer.getShort() & 0xffff);
  }

  /** Returns whether a correct side could send a body. */
  private static boolean encodes(Hello.Kind kind, HelloBody body) {
    RingOffer offer = read(body);
    HelloBody again = offer.body();
    return offer.isSound(kind)
        && again.flags() == body.flags() // no undefined bits
        && ByteBuffer.wrap(again.bytes()).equals(ByteBuffer.wrap(body.bytes()));
  }

  private boolean isSound(Hello.Kind kind) {
    boolean sendsOnly = simplex && kind == Hello.Kind.CONNECT;
    return window >= 1
        && window <= MAX_WINDOW
        && (sendsOnly
            ? key == 0 && ringSize == 0 && maxMessage == 0
            : isRingSize(ringSize) && maxMessage >= 1 && maxMessage <= MAX_MESSAGE);
  }

  /**
   * Encodes the offer as the body of a hello.
   *
   * @return the flags and the bytes
   */
  public HelloBody body() {
    ByteBuffer buffer = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(key).putInt((int) (ringSize / UNIT)).putInt(maxMessage).putShort((short) window);
    return new HelloBody((plain ? FLAG_PLAIN : 0) | (simplex ? FLAG_SIMPLEX : 0), buffer.array());
  }
}
