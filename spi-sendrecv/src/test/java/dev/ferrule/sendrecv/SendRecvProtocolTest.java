// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.RmaHandle;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** The reply of a listener to a client that it refuses, and the meaning of failed requests. */
class SendRecvProtocolTest {

  private static String objection(boolean credits, String srq) {
    Hello client =
        new Hello(
            Offer.VERSION, Hello.Kind.CONNECT, 0, new Offer(credits, 64, 8).body(), new byte[0]);
    return new SendRecvProtocol()
        .objection(
            ResolvedOptions.of(
                ConnectionOptions.defaults(),
                URI.create("sendrecv://host:1?srq=" + srq),
                SendRecvOptions.all()),
            client);
  }

  @Test
  void onlyAClientWithoutCreditsIsRefusedAndOnlyWhereReceivesAreShared() {
    assertThat(objection(true, "on")).isNull();
    assertThat(objection(false, "off")).isNull();
    assertThat(objection(false, "on")).contains("requires clients to use credits");
  }

  @Test
  void theReasonFitsIntoARejection() {
    assertThat(objection(false, "on")).hasSizeLessThanOrEqualTo(Offer.HELLO.maxReason());
  }

  /** A connect request has less room for a payload than the other messages of a handshake. */
  @Test
  void aHandleFitsIntoTheClientsRequest() {
    assertThat(ConnectionParameters.MAX_REQUEST_DATA - Offer.HELLO.size())
        .isGreaterThanOrEqualTo(RmaHandle.MAX_BYTES);
  }

  /** For a send, rdma_rxe reports this if the device has lost its address. */
  @Test
  void aSendThatTheDeviceCannotExecuteIsNoViolationByThePeer() {
    SendRecvProtocol protocol = new SendRecvProtocol();
    CompletionStatus status = CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;

    assertThat(protocol.violationOfSend(status)).isNull();
    assertThat(protocol.violationOfReceive(status)).contains("longer than this side");
  }
}
