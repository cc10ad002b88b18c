// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.rdma.connection.HelloFormat;
import dev.ferrule.rdma.connection.ProtocolTexts;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.rdma.connection.RdmaProtocol;
import dev.ferrule.rdma.connection.ReceiveSide;
import dev.ferrule.rdma.connection.SharedReceiveSide;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.CompletionStatus;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/** The protocol that sends messages by SEND into posted buffers, with credits. */
final class SendRecvProtocol implements RdmaProtocol {

  static final String SCHEME = "sendrecv";

  private static final ProtocolTexts TEXTS =
      new ProtocolTexts(
          "the listener is not Ferrule; if it uses plain SEND and RECV, set hello=off",
          "check the options credits, rnrRetry and receives",
          "use smaller values of receives and unacked",
          "use fewer connections or receives",
          "raise the option receives");

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public HelloFormat hello() {
    return Offer.HELLO;
  }

  @Override
  public boolean hasHandshake(ResolvedOptions options) {
    return RdmaOptions.isOn(options, SendRecvOptions.HELLO);
  }

  /**
   * Rejects a client without credits: it would use shared buffers that are granted to other
   * clients.
   */
  @Override
  public @Nullable String objection(ResolvedOptions options, Hello client) {
    boolean endangersOthers =
        sharesReceives(options)
            && SendRecvOptions.usesCredits(options)
            && !Offer.of(client).credits();
    return endangersOthers
        ? "the listener shares its receive buffers (srq=on) and requires clients to use credits"
        : null;
  }

  @Override
  public ReceiveSide receiveSide(
      SharedDevice device, Arena arena, ResolvedOptions options, boolean connects) {
    return new OwnBuffers(device, arena, options);
  }

  @Override
  public boolean sharesReceives(ResolvedOptions options) {
    return RdmaOptions.isOn(options, SendRecvOptions.SRQ);
  }

  @Override
  public SharedReceiveSide shareReceives(
      SharedDevice device, Arena arena, ResolvedOptions options) {
    return SharedBuffers.make(device, arena, options);
  }

  @Override
  public @Nullable String violationOfSend(CompletionStatus status) {
    return switch (status) {
      // rdma_rxe reports the last one in this case
      case LOCAL_LENGTH_ERROR, REMOTE_INVALID_REQUEST_ERROR, REMOTE_OPERATION_ERROR ->
          "a message was longer than the peer's receives, which are for its maxMessage";
      default -> null;
    };
  }

  @Override
  public @Nullable String violationOfReceive(CompletionStatus status) {
    return switch (status) {
      // rdma_rxe reports the last two in this case
      case LOCAL_LENGTH_ERROR,
          REMOTE_INVALID_REQUEST_ERROR,
          LOCAL_QUEUE_PAIR_OPERATION_ERROR,
          REMOTE_OPERATION_ERROR ->
          "a message of the peer was longer than this side's maxMessage";
      default -> null;
    };
  }

  @Override
  public ProtocolTexts texts() {
    return TEXTS;
  }
}
