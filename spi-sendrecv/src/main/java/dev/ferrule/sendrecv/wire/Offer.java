// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.wire;

import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.rdma.connection.HelloBody;
import dev.ferrule.rdma.connection.HelloFormat;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A side's offer in its hello. Bit 0 of the flags means credits. The body, little-endian:
 *
 * <pre>
 *  0  4  the longest message that this side receives
 *  4  4  the number of messages that this side grants at first
 * </pre>
 *
 * @param credits whether this side uses credits
 * @param maxMessage the longest message that this side receives, in bytes
 * @param granted the number of messages that the peer may send at first
 */
public record Offer(boolean credits, int maxMessage, int granted) {

  /** The protocol version of this implementation. */
  public static final int VERSION = 1;

  private static final int MAGIC = 0x72737246; // "Frsr"
  private static final int SIZE = 8;
  private static final int FLAG_CREDITS = 1;

  /** The limit of maxMessage: the peer needs memory for messages of that length. */
  private static final int MAX_MESSAGE = 1 << 30;

  private static final int MAX_GRANTED = 0x7fff;

  /** The format of the enclosing hello. */
  public static final HelloFormat HELLO =
      new HelloFormat(MAGIC, VERSION, SIZE, (kind, body) -> read(body).isValid());

  /**
   * Decodes the peer's offer.
   *
   * @param hello the peer's hello
   * @return the offer
   */
  public static Offer of(Hello hello) {
    return read(hello.body());
  }

  private static Offer read(HelloBody body) {
    ByteBuffer buffer = ByteBuffer.wrap(body.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    return new Offer((body.flags() & FLAG_CREDITS) != 0, buffer.getInt(), buffer.getInt());
  }

  private boolean isValid() {
    return maxMessage >= 1 && maxMessage <= MAX_MESSAGE && granted >= 1 && granted <= MAX_GRANTED;
  }

  /**
   * Encodes the offer as the body of a hello.
   *
   * @return the flags and the bytes
   */
  public HelloBody body() {
    ByteBuffer buffer = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(maxMessage).putInt(granted);
    return new HelloBody(credits ? FLAG_CREDITS : 0, buffer.array());
  }
}
