// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

/**
 * The handshake message of a side, in the private data of the connection manager; {@link
 * HelloFormat} encodes it.
 *
 * @param version the version of the protocol
 * @param kind the kind
 * @param accessTable the key of this side's table for remote memory access; 0 if there is none
 * @param body the protocol's part
 * @param payload the program's payload
 */
public record Hello(int version, Kind kind, int accessTable, HelloBody body, byte[] payload) {

  /** The kind of a hello. */
  public enum Kind {
    /** A connect request. */
    CONNECT,
    /** An acceptance. */
    ACCEPT,
    /** A rejection by the program; the payload is the program's. */
    REJECT,
    /** A refusal by the listener; the payload is the reason, in UTF-8. */
    REFUSE,
    /** The listener speaks another version of the protocol, the one in this hello. */
    VERSION_MISMATCH,
    /** The listener lacks a resource; the payload is its name, in UTF-8. */
    NO_ROOM;

    /** Returns whether the body is used. */
    boolean hasBody() {
      return this == CONNECT || this == ACCEPT;
    }
  }
}
