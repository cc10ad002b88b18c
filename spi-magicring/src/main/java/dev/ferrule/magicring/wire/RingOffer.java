// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.wire;

import dev.ferrule.verbs.connection.Hello;
import dev.ferrule.verbs.connection.HelloBody;
import dev.ferrule.verbs.connection.HelloFormat;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What a side offers in its hello: the ring that its peer may write to. The flags: bit 0 is a plain
 * mapping, bit 1 a simplex connection. The body, little-endian:
 *
 * <pre>
 *  0  4  the ring's key
 *  4  4  the ring's size in units of 4 KiB; 0: there is none
 *  8  4  the longest message that this side receives
 * 12  2  window: how many messages may be unacknowledged, 1 to 32767
 * 14  2  zero
 * </pre>
 *
 * <p>The device names the ring's bytes by their offset in it, so no address need be told. In a
 * simplex connection only the side that says CONNECT sends; so it has no ring, and key, size and
 * longest message are zero.
 *
 * @param plain whether the ring is mapped once, not twice
 * @param simplex whether only the side that connects sends
 * @param key the remote key of this side's ring
 * @param ringSize the size of this side's ring in bytes, or 0
 * @param maxMessage the longest message that this side receives, in bytes
 * @param window how many messages this side wants to be unacknowledged, at most
 */
public record RingOffer(
    boolean plain, boolean simplex, int key, long ringSize, int maxMessage, int window) {

  /** The version of this implementation. */
  public static final int VERSION = 1;

  /** The unit of rings, in bytes. */
  public static final int UNIT = 4096;

  /** The longest message in any ring, in bytes; its length is its immediate data. */
  public static final int MAX_MESSAGE = 1 << 30;

  /** The greatest window. */
  public static final int MAX_WINDOW = 0x7fff;

  private static final int MAGIC = 0x726d7246; // "Frmr"
  private static final int SIZE = 16;
  private static final long MAX_UNITS = 0xffff_ffffL;
  private static final int FLAG_PLAIN = 1;
  private static final int FLAG_SIMPLEX = 2;

  /** The hello around it. */
  public static final HelloFormat HELLO =
      new HelloFormat(MAGIC, VERSION, SIZE, (kind, body) -> encodes(kind, body));

  /**
   * Tells whether a ring can have a size.
   *
   * @param size the size in bytes
   * @return whether it can
   */
  public static boolean isRingSize(long size) {
    return size > 0 && size % UNIT == 0 && size / UNIT <= MAX_UNITS;
  }

  /**
   * Checks a window.
   *
   * @param window how many messages may be unacknowledged
   * @return the same
   * @throws IllegalArgumentException if it is not from 1 to {@link #MAX_WINDOW}
   */
  public static int checkWindow(int window) {
    if (window < 1 || window > MAX_WINDOW) {
      throw new IllegalArgumentException("a window of " + window + " messages");
    }
    return window;
  }

  /**
   * Returns what the peer offers.
   *
   * @param hello what it said
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

  /** Whether a body is one that some side would send. */
  private static boolean encodes(Hello.Kind kind, HelloBody body) {
    RingOffer offer = read(body);
    HelloBody again = offer.body();
    return offer.isSound(kind)
        && again.flags() == body.flags() // no bits without a meaning
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
   * Returns the offer as a hello has it.
   *
   * @return the flags and the bytes
   */
  public HelloBody body() {
    ByteBuffer buffer = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(key).putInt((int) (ringSize / UNIT)).putInt(maxMessage).putShort((short) window);
    return new HelloBody((plain ? FLAG_PLAIN : 0) | (simplex ? FLAG_SIMPLEX : 0), buffer.array());
  }
}
