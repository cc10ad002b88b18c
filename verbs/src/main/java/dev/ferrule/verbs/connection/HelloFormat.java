// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;

/**
 * What the hello of a protocol looks like. It is little-endian:
 *
 * <pre>
 *  0  4  magic number, the protocol's own
 *  4  1  version
 *  5  1  kind
 *  6  1  length of the payload
 *  7  1  flags, the protocol's own
 *  8  4  key of the sender's table for remote memory access; 0 if it has none
 * 12     body, the protocol's own: always of the same length
 *        the program's payload
 * </pre>
 *
 * <p>Magic number and version stay where they are in every version.
 *
 * @param magic the first four bytes, as a little-endian number
 * @param version the version of this implementation
 * @param bodyLength how long the body is, in bytes
 * @param validity tells whether a body can be right, of a hello of a kind that has one
 */
public record HelloFormat(
    int magic, int version, int bodyLength, BiPredicate<Hello.Kind, HelloBody> validity) {

  private static final int HEADER = 12;

  /** The first four bytes of a hello, for each protocol of Ferrule. */
  private static final Map<String, String> SCHEMES =
      Map.of("Frsr", "sendrecv", "Frmr", "magicring");

  /**
   * Returns whose hello private data is, also where it is another protocol's.
   *
   * @param data the private data
   * @return the scheme of the protocol; empty if it is no hello of Ferrule's
   */
  static Optional<String> schemeOf(byte[] data) {
    return data.length < Integer.BYTES
        ? Optional.empty()
        : Optional.ofNullable(
            SCHEMES.get(new String(data, 0, Integer.BYTES, StandardCharsets.ISO_8859_1)));
  }

  /**
   * Returns how long a hello is without a payload.
   *
   * @return the length in bytes
   */
  public int size() {
    return HEADER + bodyLength;
  }

  /**
   * Says hello.
   *
   * @param kind what this says
   * @param accessTable the key of this side's table for remote memory access, or 0
   * @param body what the protocol has to say
   * @param payload what the program has to say
   * @return the bytes, in a new array
   */
  public byte[] encode(Hello.Kind kind, int accessTable, HelloBody body, byte[] payload) {
    return encode(new Hello(version, kind, accessTable, body, payload));
  }

  /**
   * Says something about which the protocol has nothing to say.
   *
   * @param kind what this says
   * @param payload what the program has to say, or why
   * @return the bytes, in a new array
   */
  public byte[] encode(Hello.Kind kind, byte[] payload) {
    return encode(kind, 0, new HelloBody(0, new byte[bodyLength]), payload);
  }

  /**
   * Returns the bytes of a hello.
   *
   * @param hello the hello
   * @return a new array
   */
  public byte[] encode(Hello hello) {
    byte[] payload = hello.payload();
    ByteBuffer buffer = ByteBuffer.allocate(size() + payload.length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(magic).put((byte) hello.version()).put((byte) hello.kind().ordinal());
    buffer.put((byte) payload.length).put((byte) hello.body().flags());
    buffer.putInt(hello.accessTable());
    buffer.put(hello.body().bytes(), 0, bodyLength).put(payload);
    return buffer.array();
  }

  /**
   * Reads private data, which may be longer than what was sent.
   *
   * @param data the private data
   * @return the hello; empty if it is none. Of another version than this one only the version is
   *     right, whatever that may mean by its kinds.
   */
  public Optional<Hello> decode(byte[] data) {
    ByteBuffer buffer = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    if (data.length < size() || buffer.getInt() != magic) {
      return Optional.empty();
    }
    int said = buffer.get() & 0xff;
    int kindNumber = buffer.get() & 0xff;
    int length = buffer.get() & 0xff;
    int flags = buffer.get() & 0xff;
    int accessTable = buffer.getInt();
    HelloBody body = new HelloBody(flags, new byte[bodyLength]);
    buffer.get(body.bytes());
    if (said != version) {
      return Optional.of(new Hello(said, Hello.Kind.VERSION_MISMATCH, 0, body, new byte[0]));
    }
    if (kindNumber >= Hello.Kind.values().length) {
      return Optional.empty();
    }
    Hello.Kind kind = Hello.Kind.values()[kindNumber];
    if (length > buffer.remaining() || (kind.hasBody() && !validity.test(kind, body))) {
      return Optional.empty();
    }
    byte[] payload = new byte[length];
    buffer.get(payload);
    return Optional.of(new Hello(said, kind, accessTable, body, payload));
  }
}
