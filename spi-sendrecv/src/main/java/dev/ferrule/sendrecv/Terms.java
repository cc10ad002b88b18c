// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.sendrecv.wire.Hello;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the two sides of a connection agree on.
 *
 * @param queues what the queues have to know
 * @param peerMaxMessage the longest message that the peer takes
 */
record Terms(Channel.Terms queues, int peerMaxMessage) {

  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  /** A number for a connection of this process. */
  static long nextNumber() {
    return LAST_NUMBER.incrementAndGet();
  }

  static void checkPayload(byte[] payload, int privateData) {
    int limit = privateData - Hello.SIZE;
    if (payload.length > limit) {
      throw new IllegalArgumentException(
          "a payload of " + payload.length + " bytes; sendrecv takes " + limit + " at most here");
    }
  }

  /** What this side offers. */
  static byte[] hello(Hello.Kind kind, ConnectionOptions options, int receives, byte[] payload) {
    return new Hello(
            Hello.VERSION,
            kind,
            SendRecvOptions.isOn(options, SendRecvOptions.CREDITS),
            Math.toIntExact(options.get(StandardOptions.MAX_MESSAGE)),
            receives,
            payload)
        .encode();
  }

  static ConnectionParameters parameters(byte[] privateData, ConnectionOptions options) {
    return new ConnectionParameters(
        privateData,
        0,
        0,
        options.get(SendRecvOptions.RETRIES),
        options.get(SendRecvOptions.RNR_RETRY));
  }

  /**
   * Puts together what both sides have offered.
   *
   * @param peer the peer's hello; empty in the plain mode, where this side can only suppose that
   *     the peer is like it
   */
  static Terms agree(
      ConnectionOptions options, ConnectionResources resources, Optional<Hello> peer) {
    long inlineWanted = options.get(SendRecvOptions.INLINE);
    int inlinePossible = resources.queuePair().sizes().inline();
    int receives = resources.receives();
    boolean credits =
        SendRecvOptions.isOn(options, SendRecvOptions.CREDITS)
            && peer.map(Hello::credits).orElse(false);
    Channel.Terms queues =
        new Channel.Terms(
            peer.isEmpty(),
            credits,
            receives,
            peer.map(Hello::granted).orElse(receives),
            options.get(SendRecvOptions.UNACKED),
            inlineWanted == 0 ? -1 : (int) Math.min(inlineWanted, inlinePossible));
    return new Terms(
        queues,
        peer.map(Hello::maxMessage)
            .orElse(Math.toIntExact(options.get(StandardOptions.MAX_MESSAGE))));
  }
}
