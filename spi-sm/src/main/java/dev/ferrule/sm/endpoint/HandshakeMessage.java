// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * A handshake message: 8 bytes, followed by the payload. As one little-endian number, from the
 * least significant bit: 4 bits type, 8 bits version, 12 bits payload length, 20 bits the
 * connection's number at the client's endpoint, 20 bits its number at the server's. The version is
 * the sender's. Type and version have the same place in every version.
 *
 * @param clientId the connection's number at the client's endpoint, chosen by the client
 * @param serverId the connection's number at the server's endpoint, chosen by the server; 0 before
 */
record HandshakeMessage(Type type, int version, int clientId, int serverId, byte[] payload) {

  /** The protocol version of this implementation. */
  static final int VERSION = 3;

  /** Bytes before the payload. */
  static final int HEADER_SIZE = 8;

  /** Maximum payload, in bytes. */
  static final int MAX_PAYLOAD = 1024;

  /** The greatest connection number. */
  static final int MAX_ID = (1 << 20) - 1;

  private static final int VERSION_SHIFT = 4;
  private static final int LENGTH_SHIFT = 12;
  private static final int CLIENT_SHIFT = 24;
  private static final int SERVER_SHIFT = 44;

  /** Message types; the code of a type is its ordinal plus one. */
  enum Type {
    /** Client: requests a connection. */
    CONNECT,
    /** Server: accepts the request. */
    ACCEPT,
    /** Server's program: rejects the request. */
    REJECT,
    /** Client: confirms the connection. */
    ACK,
    /** Client: has abandoned the attempt. */
    CANCEL,
    /** Server: does not listen, or cannot use the client's files. */
    REFUSE,
    /** Server: speaks another version, that of this message. */
    VERSION_MISMATCH,
    /** Server: lacks a resource for another connection. */
    NO_ROOM
  }

  HandshakeMessage(Type type, int clientId, int serverId, byte[] payload) {
    this(type, VERSION, clientId, serverId, payload);
  }

  HandshakeMessage(Type type, int clientId, int serverId) {
    this(type, clientId, serverId, new byte[0]);
  }

  static HandshakeMessage refusal(int clientId, String reason) {
    return new HandshakeMessage(Type.REFUSE, clientId, 0, prefix(reason));
  }

  static HandshakeMessage noRoom(int clientId, String reason) {
    return new HandshakeMessage(Type.NO_ROOM, clientId, 0, prefix(reason));
  }

  /** Returns the longest prefix of a text that fits in a message, cut at a character boundary. */
  private static byte[] prefix(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, MAX_PAYLOAD);
    while (length < text.length && (text[length] & 0xc0) == 0x80) {
      length--;
    }
    return Arrays.copyOf(text, length);
  }

  byte[] encode() {
    long header =
        type.ordinal() + 1
            | (long) version << VERSION_SHIFT
            | (long) payload.length << LENGTH_SHIFT
            | (long) clientId << CLIENT_SHIFT
            | (long) serverId << SERVER_SHIFT;
    return ByteBuffer.allocate(HEADER_SIZE + payload.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(header)
        .put(payload)
        .array();
  }

  /** Decodes a datagram from an untrusted process; empty if it is not a message. */
  static Optional<HandshakeMessage> decode(byte[] datagram) {
    if (datagram.length < HEADER_SIZE) {
      return Optional.empty();
    }
    long header = ByteBuffer.wrap(datagram).order(ByteOrder.LITTLE_ENDIAN).getLong();
    int code = (int) header & 0xf;
    int version = (int) (header >>> VERSION_SHIFT) & 0xff;
    int length = (int) (header >>> LENGTH_SHIFT) & 0xfff;
    // of another version only the type, the version and the client's number are decoded
    boolean whole = length == datagram.length - HEADER_SIZE && length <= MAX_PAYLOAD;
    int clientId = (int) (header >>> CLIENT_SHIFT) & MAX_ID;
    if (code < 1
        || code > Type.values().length
        || clientId == 0 // numbers count from 1, so there is no client to answer
        || (version == VERSION && !whole)) {
      return Optional.empty();
    }
    return Optional.of(
        new HandshakeMessage(
            Type.values()[code - 1],
            version,
            clientId,
            (int) (header >>> SERVER_SHIFT) & MAX_ID,
            Arrays.copyOfRange(datagram, HEADER_SIZE, datagram.length)));
  }
}
