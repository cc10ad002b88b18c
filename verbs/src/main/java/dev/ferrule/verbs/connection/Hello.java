// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

/**
 * What the two sides tell each other in the private data of the connection manager; {@link
 * HelloFormat} has the bytes.
 *
 * @param version the version of the protocol
 * @param kind what this says
 * @param accessTable the key of this side's table for remote memory access; 0 if there is none
 * @param body what the protocol has to say
 * @param payload what the program has to say
 */
public record Hello(int version, Kind kind, int accessTable, HelloBody body, byte[] payload) {

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
    NO_ROOM;

    /** Whether the body says anything. */
    boolean hasBody() {
      return this == CONNECT || this == ACCEPT;
    }
  }
}
