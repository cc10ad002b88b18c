// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.wire;

import dev.ferrule.verbs.connection.Hello;
import dev.ferrule.verbs.connection.HelloBody;
import dev.ferrule.verbs.connection.HelloFormat;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What a side offers in its hello. The flags: bit 0 is credits. The body, little-endian:
 *
 * <pre>
 *  0  4  the longest message that this side receives
 *  4  4  how many messages this side has room for, and so grants at first
 * </pre>
 *
 * @param credits whether this side wants credits
 * @param maxMessage the longest message that this side receives, in bytes
 * @param granted how many messages the peer may send at first
 */
public record Offer(boolean credits, int maxMessage, int granted) {

  /** The version of this implementation. */
  public static final int VERSION = 1;

  private static final int MAGIC = 0x72737246; // "Frsr"
  private static final int SIZE = 8;
  private static final int FLAG_CREDITS = 1;

  /** No side can ask for longer messages, which the other would need memory for. */
  private static final int MAX_MESSAGE = 1 << 30;

  private static final int MAX_GRANTED = 0x7fff;

  /** The hello around it. */
  public static final HelloFormat HELLO =
      new HelloFormat(MAGIC, VERSION, SIZE, (kind, body) -> read(body).isValid());

  /**
   * Returns what the peer offers.
   *
   * @param hello what it said
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
   * Returns the offer as a hello has it.
   *
   * @return the flags and the bytes
   */
  public HelloBody body() {
    ByteBuffer buffer = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(maxMessage).putInt(granted);
    return new HelloBody(credits ? FLAG_CREDITS : 0, buffer.array());
  }
}
