// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What both sides do alike when they say hello. */
final class Handshake {

  private Handshake() {}

  /** Checks the length of a program's payload. */
  static void checkPayload(RdmaProtocol protocol, byte[] payload, int privateData) {
    int limit = privateData - protocol.hello().size();
    if (payload.length > limit) {
      throw new IllegalArgumentException(
          "a payload of "
              + payload.length
              + " bytes; "
              + protocol.scheme()
              + " takes "
              + limit
              + " at most here");
    }
  }

  /** What this side offers; nothing at all if there is no handshake. */
  static byte[] hello(
      Hello.Kind kind,
      RdmaProtocol protocol,
      ConnectionOptions options,
      ReceiveSide side,
      byte[] payload) {
    return protocol.hasHandshake(options)
        ? protocol.hello().encode(kind, side.offer(), payload)
        : new byte[0];
  }

  /** A hello that turns a client away, with as much of the reason as there is room for. */
  static byte[] refusal(RdmaProtocol protocol, Hello.Kind kind, String reason) {
    int limit = ConnectionParameters.MAX_REJECT_DATA - protocol.hello().size();
    byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
    return protocol
        .hello()
        .encode(kind, bytes.length <= limit ? bytes : Arrays.copyOf(bytes, limit));
  }

  static ConnectionParameters parameters(byte[] privateData, ConnectionOptions options) {
    return new ConnectionParameters(
        privateData, 0, 0, options.get(RdmaOptions.RETRIES), options.get(RdmaOptions.RNR_RETRY));
  }
}
