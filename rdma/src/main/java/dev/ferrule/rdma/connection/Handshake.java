// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.DeviceAttributes;
import dev.ferrule.verbs.cm.ConnectionParameters;

/** The part of the handshake that both sides have in common. */
final class Handshake {

  /** The maximum number of outstanding RDMA READs of a side. Most devices support it. */
  private static final int READS = 16;

  private Handshake() {}

  /** Checks the length of a program's payload. */
  static void checkPayload(RdmaProtocol protocol, byte[] payload, int privateData) {
    int limit = privateData - protocol.hello().size();
    if (payload.length > limit) {
      throw new IllegalArgumentException(
          "a payload of "
              + payload.length
              + " bytes is too long: "
              + protocol.scheme()
              + " supports at most "
              + limit
              + " bytes here");
    }
  }

  /** Returns the private data with this side's hello; empty without a handshake. */
  static byte[] hello(
      Hello.Kind kind,
      RdmaProtocol protocol,
      ResolvedOptions options,
      RdmaConnectionResources resources,
      byte[] payload) {
    return protocol.hasHandshake(options)
        ? protocol
            .hello()
            .encode(kind, resources.accessTableKey(), resources.receiveSide().offer(), payload)
        : new byte[0];
  }

  /** Returns a hello that rejects a client, with the reason, shortened if it is too long. */
  static byte[] refusal(RdmaProtocol protocol, Hello.Kind kind, String reason) {
    HelloFormat format = protocol.hello();
    return format.encode(kind, Reason.shortened(reason, format.maxReason()));
  }

  /** Returns the parameters of the connecting side. */
  static ConnectionParameters request(
      byte[] privateData, ResolvedOptions options, DeviceAttributes device) {
    return parameters(
        privateData,
        options,
        Math.min(device.maxReadsAsTarget(), READS),
        Math.min(device.maxReadsAsInitiator(), READS));
  }

  /**
   * Returns the parameters of the accepting side: as many reads as the client requests, up to the
   * device's limit.
   */
  static ConnectionParameters grant(byte[] privateData, ResolvedOptions options) {
    return parameters(
        privateData, options, ConnectionParameters.ALL_READS, ConnectionParameters.ALL_READS);
  }

  private static ConnectionParameters parameters(
      byte[] privateData, ResolvedOptions options, int readsAsTarget, int readsAsInitiator) {
    return new ConnectionParameters(
        privateData,
        readsAsTarget,
        readsAsInitiator,
        options.get(RdmaOptions.RETRIES),
        options.get(RdmaOptions.RNR_RETRY));
  }
}
