// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * What the two sides tell each other in the private data of the connection manager. 16 bytes,
 * little-endian, and the program's payload behind them:
 *
 * <pre>
 *  0  4  magic number, the bytes "Frsr"
 *  4  1  version
 *  5  1  kind
 *  6  1  length of the payload
 *  7  1  flags; bit 0: credits
 *  8  4  the longest message that this side receives
 * 12  4  how many messages this side has room for, and so grants at first
 * </pre>
 *
 * <p>Magic number, version and kind stay where they are in every version.
 *
 * @param version the version of the protocol
 * @param kind what this says
 * @param credits whether this side wants credits
 * @param maxMessage the longest message that this side receives, in bytes
 * @param granted how many messages the peer may send at first
 * @param payload what the program has to say
 */
public record Hello(
    int version, Kind kind, boolean credits, int maxMessage, int granted, byte[] payload) {

  /** The version of this implementation. */
  public static final int VERSION = 1;

  /** How long a hello is without a payload, in bytes. */
  public static final int SIZE = 16;

  /** No side can ask for longer messages, which the other would need memory for. */
  private static final int MAX_MESSAGE = 1 << 30;

  private static final int MAGIC = 0x72737246; // "Frsr"
  private static final int FLAG_CREDITS = 1;

  /** What a hello says. */
  public enum Kind {
    /** Let me in. */
    CONNECT,
    /** Come in. */
    ACCEPT,
    /** The program says no; the payload is the program's. */
    REJECT,
    /** Nobody listens any more; the payload says why, in UTF-8. */
    REFUSE,
    /** I speak another version, the one in this hello. */
    VERSION_MISMATCH,
    /** I lack a resource; the payload says which, in UTF-8. */
    NO_ROOM
  }

  /**
   * Says something that needs no numbers.
   *
   * @param kind what
   * @param payload the payload
   * @return the hello
   */
  public static Hello of(Kind kind, byte[] payload) {
    return new Hello(VERSION, kind, false, 0, 0, payload);
  }

  /**
   * Returns the bytes.
   *
   * @return a new array
   */
  public byte[] encode() {
    ByteBuffer buffer = ByteBuffer.allocate(SIZE + payload.length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(MAGIC).put((byte) version).put((byte) kind.ordinal()).put((byte) payload.length);
    buffer.put((byte) (credits ? FLAG_CREDITS : 0)).putInt(maxMessage).putInt(granted).put(payload);
    return buffer.array();
  }

  /**
   * Reads private data, which may be longer than what was sent.
   *
   * @param data the private data
   * @return the hello; empty if it is none. Of another version than {@link #VERSION} only the
   *     version and the kind are right.
   */
  public static Optional<Hello> decode(byte[] data) {
    ByteBuffer buffer = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    if (data.length < SIZE || buffer.getInt() != MAGIC) {
      return Optional.empty();
    }
    int version = buffer.get() & 0xff;
    int kind = buffer.get() & 0xff;
    int length = buffer.get() & 0xff;
    int flags = buffer.get();
    int maxMessage = buffer.getInt();
    int granted = buffer.getInt();
    if (kind >= Kind.values().length) {
      return Optional.empty();
    }
    Kind said = Kind.values()[kind];
    if (version != VERSION) {
      return Optional.of(new Hello(version, said, false, 0, 0, new byte[0]));
    }
    boolean numbers = said == Kind.CONNECT || said == Kind.ACCEPT;
    if (length > buffer.remaining()
        || (numbers
            && (maxMessage < 1 || maxMessage > MAX_MESSAGE || granted < 1 || granted > 0x7fff))) {
      return Optional.empty();
    }
    byte[] payload = new byte[length];
    buffer.get(payload);
    return Optional.of(
        new Hello(version, said, (flags & FLAG_CREDITS) != 0, maxMessage, granted, payload));
  }
}
