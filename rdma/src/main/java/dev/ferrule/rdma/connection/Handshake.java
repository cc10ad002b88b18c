// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.MessageTooLongException;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.DeviceAttributes;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.net.URI;

/** The part of the handshake that is common to both sides. */
final class Handshake {

  /** The maximum number of outstanding RDMA READs of a side. Most devices support it. */
  private static final int READS = 16;

  private Handshake() {}

  /** Checks the length of a program's payload. Without a handshake it must be empty. */
  static void checkPayload(
      URI uri, RdmaProtocol protocol, ResolvedOptions options, byte[] payload, int privateData) {
    int limit = protocol.hasHandshake(options) ? privateData - protocol.hello().size() : 0;
    if (payload.length > limit) {
      throw new MessageTooLongException(
          uri,
          payload.length,
          limit,
          "payload too long: %s bytes exceed the limit of %s bytes%s; send the rest in a message"
              .formatted(payload.length, limit, limit == 0 ? " of hello=off" : ""));
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

  /** Returns a hello that rejects a client and states the reason, shortened if it is too long. */
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
