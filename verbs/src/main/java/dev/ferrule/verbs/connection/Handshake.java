// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.verbs.DeviceAttributes;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What both sides do alike when they say hello. */
final class Handshake {

  /** How many RDMA READs a side has outstanding at a time: what most devices can. */
  private static final int READS = 16;

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
      ConnectionResources resources,
      byte[] payload) {
    return protocol.hasHandshake(options)
        ? protocol
            .hello()
            .encode(kind, resources.accessTableKey(), resources.receiveSide().offer(), payload)
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

  /** What the side that connects wants. */
  static ConnectionParameters request(
      byte[] privateData, ConnectionOptions options, DeviceAttributes device) {
    return parameters(
        privateData,
        options,
        Math.min(device.maxReadsAsTarget(), READS),
        Math.min(device.maxReadsAsInitiator(), READS));
  }

  /** What the side that accepts grants: as many reads as the other wants, if its device can. */
  static ConnectionParameters grant(byte[] privateData, ConnectionOptions options) {
    return parameters(
        privateData, options, ConnectionParameters.ALL_READS, ConnectionParameters.ALL_READS);
  }

  private static ConnectionParameters parameters(
      byte[] privateData, ConnectionOptions options, int readsAsTarget, int readsAsInitiator) {
    return new ConnectionParameters(
        privateData,
        readsAsTarget,
        readsAsInitiator,
        options.get(RdmaOptions.RETRIES),
        options.get(RdmaOptions.RNR_RETRY));
  }
}
