// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.connection.Hello;
import dev.ferrule.verbs.connection.HelloFormat;
import dev.ferrule.verbs.connection.ProtocolTexts;
import dev.ferrule.verbs.connection.RdmaOptions;
import dev.ferrule.verbs.connection.RdmaProtocol;
import dev.ferrule.verbs.connection.ReceiveSide;
import dev.ferrule.verbs.connection.SharedReceiveSide;
import dev.ferrule.verbs.endpoint.FabricDevice;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/** Messages as SENDs into posted buffers, with credits. */
final class SendRecvProtocol implements RdmaProtocol {

  static final String SCHEME = "sendrecv";

  private static final ProtocolTexts TEXTS =
      new ProtocolTexts(
          "what listens there is not Ferrule; if it speaks plain SEND and RECV, use hello=off",
          "see the options credits, rnrRetry and receives",
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
  public boolean hasHandshake(ConnectionOptions options) {
    return RdmaOptions.isOn(options, SendRecvOptions.HELLO);
  }

  /** A client without credits would take shared buffers that the others have credit for. */
  @Override
  public @Nullable String objection(ConnectionOptions options, Hello client) {
    boolean endangersOthers =
        sharesReceives(options)
            && SendRecvOptions.usesCredits(options)
            && !Offer.of(client).credits();
    return endangersOthers
        ? "the listener shares its receive buffers (srq=on) and takes no client without credits"
        : null;
  }

  @Override
  public ReceiveSide receiveSide(
      FabricDevice device, Arena arena, ConnectionOptions options, boolean connects) {
    return new OwnBuffers(device, arena, options);
  }

  @Override
  public boolean sharesReceives(ConnectionOptions options) {
    return RdmaOptions.isOn(options, SendRecvOptions.SRQ);
  }

  @Override
  public SharedReceiveSide shareReceives(
      FabricDevice device, Arena arena, ConnectionOptions options) {
    return SharedBuffers.make(device, arena, options);
  }

  @Override
  public @Nullable String violation(CompletionStatus status) {
    return switch (status) {
      // The last two are what rdma_rxe makes of it.
      case LOCAL_LENGTH_ERROR,
          REMOTE_INVALID_REQUEST_ERROR,
          LOCAL_QUEUE_PAIR_OPERATION_ERROR,
          REMOTE_OPERATION_ERROR ->
          "a message was longer than the receiver's maxMessage";
      default -> null;
    };
  }

  @Override
  public ProtocolTexts texts() {
    return TEXTS;
  }
}
