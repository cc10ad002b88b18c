// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.RmaHandle;
import dev.ferrule.magicring.wire.RingOffer;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** The reply of a listener to a client that it refuses, and the meaning of failed requests. */
class MagicRingProtocolTest {

  private static String objection(String simplex, boolean clientIsSimplex) {
    RingOffer offer = new RingOffer(false, clientIsSimplex, 1, clientIsSimplex ? 0 : 4096, 64, 8);
    Hello client = new Hello(RingOffer.VERSION, Hello.Kind.CONNECT, 0, offer.body(), new byte[0]);
    return new MagicRingProtocol()
        .objection(
            ResolvedOptions.of(
                ConnectionOptions.defaults(),
                URI.create("magicring://host:1?simplex=" + simplex),
                MagicRingOptions.all()),
            client);
  }

  @Test
  void onlyAListenerThatOnlyReceivesRefusesClientsThatReceive() {
    assertThat(objection("off", false)).isNull();
    assertThat(objection("on", true)).isNull();
    assertThat(objection("on", false)).contains("connect with simplex=on");
  }

  @Test
  void theReasonFitsIntoARejection() {
    assertThat(objection("on", false)).hasSizeLessThanOrEqualTo(RingOffer.HELLO.maxReason());
  }

  /** A connect request has less room for a payload than the other messages of a handshake. */
  @Test
  void aHandleFitsIntoTheClientsRequest() {
    assertThat(ConnectionParameters.MAX_REQUEST_DATA - RingOffer.HELLO.size())
        .isGreaterThanOrEqualTo(RmaHandle.MAX_BYTES);
  }

  /** For a send, rdma_rxe reports this if the device has lost its address. */
  @Test
  void aSendThatTheDeviceCannotExecuteIsNoViolationByThePeer() {
    MagicRingProtocol protocol = new MagicRingProtocol();
    CompletionStatus status = CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;

    assertThat(protocol.violationOfSend(status)).isNull();
    assertThat(protocol.violationOfReceive(status)).contains("a control message was too long");
  }
}
