// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.verbs.cm.ConnectionParameters;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;

/**
 * The format of a protocol's hello. It is little-endian:
 *
 * <pre>
 *  0  4  magic number, the protocol's own
 *  4  1  version
 *  5  1  kind
 *  6  1  length of the payload
 *  7  1  flags, the protocol's own
 *  8  4  key of the sender's table for remote memory access; 0 if it has none
 * 12     body, the protocol's own; its length is fixed
 *        the program's payload
 * </pre>
 *
 * <p>Magic number and version have the same offset in every version.
 *
 * @param magic the first four bytes, as a little-endian number
 * @param version the version of this implementation
 * @param bodyLength the length of the body in bytes
 * @param validity returns whether a body is valid, for the kinds with a body
 */
public record HelloFormat(
    int magic, int version, int bodyLength, BiPredicate<Hello.Kind, HelloBody> validity) {

  private static final int HEADER = 12;

  /**
   * The minimum space for the reason of a rejection in every protocol, in bytes: enough for the
   * name of a function and its advice, and for every fixed reason.
   */
  static final int LEAST_REASON = 120;

  /** The first four bytes of a hello, for each protocol of Ferrule. */
  private static final Map<String, String> SCHEMES =
      Map.of("Frsr", "sendrecv", "Frmr", "magicring");

  /**
   * Creates a format.
   *
   * @throws IllegalArgumentException if the body leaves too little space for the reason of a
   *     rejection
   */
  public HelloFormat {
    if (ConnectionParameters.MAX_REJECT_DATA - HEADER - bodyLength < LEAST_REASON) {
      throw new IllegalArgumentException("a body of " + bodyLength + " bytes is too long");
    }
  }

  /**
   * Returns the protocol of a hello. It may differ from the protocol of this format.
   *
   * @param data the private data
   * @return the scheme of the protocol; empty if the data is not a hello of Ferrule
   */
  static Optional<String> schemeOf(byte[] data) {
    return data.length < Integer.BYTES
        ? Optional.empty()
        : Optional.ofNullable(
            SCHEMES.get(new String(data, 0, Integer.BYTES, StandardCharsets.ISO_8859_1)));
  }

  /** {@return the length of a hello without payload, in bytes} */
  public int size() {
    return HEADER + bodyLength;
  }

  /** {@return the maximum length of the reason of a rejection, in bytes} */
  public int maxReason() {
    return ConnectionParameters.MAX_REJECT_DATA - size();
  }

  /**
   * Encodes a hello.
   *
   * @param kind the kind
   * @param accessTable the key of this side's table for remote memory access, or 0
   * @param body the protocol's part
   * @param payload the program's payload
   * @return the bytes, in a new array
   */
  public byte[] encode(Hello.Kind kind, int accessTable, HelloBody body, byte[] payload) {
    return encode(new Hello(version, kind, accessTable, body, payload));
  }

  /**
   * Encodes a hello without table and body.
   *
   * @param kind the kind
   * @param payload the program's payload, or the reason
   * @return the bytes, in a new array
   */
  public byte[] encode(Hello.Kind kind, byte[] payload) {
    return encode(kind, 0, new HelloBody(0, new byte[bodyLength]), payload);
  }

  /**
   * Encodes a hello.
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
   * Decodes private data, which may be padded.
   *
   * @param data the private data
   * @return the hello; empty if the data is not a valid hello. For another version, only the
   *     version is valid, as the kinds of that version are unknown.
   */
  public Optional<Hello> decode(byte[] data) {
    ByteBuffer buffer = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    if (data.length < size() || buffer.getInt() != magic) {
      return Optional.empty();
    }
    int helloVersion = buffer.get() & 0xff;
    int kindNumber = buffer.get() & 0xff;
    int length = buffer.get() & 0xff;
    int flags = buffer.get() & 0xff;
    int accessTable = buffer.getInt();
    HelloBody body = new HelloBody(flags, new byte[bodyLength]);
    buffer.get(body.bytes());
    if (helloVersion != version) {
      return Optional.of(
          new Hello(helloVersion, Hello.Kind.VERSION_MISMATCH, 0, body, new byte[0]));
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
    return Optional.of(new Hello(helloVersion, kind, accessTable, body, payload));
  }
}
