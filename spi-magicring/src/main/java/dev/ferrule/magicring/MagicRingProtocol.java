// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import dev.ferrule.magicring.wire.RingOffer;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.rdma.connection.HelloFormat;
import dev.ferrule.rdma.connection.ProtocolTexts;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.rdma.connection.RdmaProtocol;
import dev.ferrule.rdma.connection.ReceiveSide;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.CompletionStatus;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/** The protocol that sends messages by RDMA WRITE with immediate data into the peer's ring. */
final class MagicRingProtocol implements RdmaProtocol {

  static final String SCHEME = "magicring";

  private static final ProtocolTexts TEXTS =
      new ProtocolTexts(
          "the listener is not Ferrule, or does not use the scheme magicring",
          "check the option rnrRetry",
          "use smaller values of window and unacked",
          "use fewer connections, or a smaller window",
          "raise the options ring or window");

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public HelloFormat hello() {
    return RingOffer.HELLO;
  }

  @Override
  public @Nullable String objection(ResolvedOptions options, Hello client) {
    return RdmaOptions.isOn(options, MagicRingOptions.SIMPLEX) && !RingOffer.of(client).simplex()
        ? "the listener only receives (simplex=on); connect with simplex=on as well"
        : null;
  }

  @Override
  public ReceiveSide receiveSide(
      SharedDevice device, Arena arena, ResolvedOptions options, boolean connects) {
    return new RingSide(device, arena, options, connects);
  }

  @Override
  public @Nullable String violationOfSend(CompletionStatus status) {
    return switch (status) {
      case REMOTE_ACCESS_ERROR -> "the peer's ring does not match its hello";
      case LOCAL_LENGTH_ERROR, REMOTE_INVALID_REQUEST_ERROR ->
          "the peer's receives are too short for control messages";
      default -> null;
    };
  }

  @Override
  public @Nullable String violationOfReceive(CompletionStatus status) {
    return switch (status) {
      case REMOTE_ACCESS_ERROR ->
          "the peer wrote to memory that is not this side's ring, or with a wrong key";
      // rdma_rxe reports the last one in this case.
      case LOCAL_LENGTH_ERROR, REMOTE_INVALID_REQUEST_ERROR, LOCAL_QUEUE_PAIR_OPERATION_ERROR ->
          "a control message was too long";
      default -> null;
    };
  }

  @Override
  public ProtocolTexts texts() {
    return TEXTS;
  }
}
