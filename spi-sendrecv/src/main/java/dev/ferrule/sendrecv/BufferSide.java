// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.rdma.connection.Agreement;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.rdma.connection.HelloBody;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.rdma.connection.ReceiveSide;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.sendrecv.queue.ReceiveBuffers;
import dev.ferrule.sendrecv.queue.SendRecvChannel;
import dev.ferrule.sendrecv.queue.SharedReceives;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.spi.ResolvedOptions;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The receive side of a connection that receives into buffers: its offer, and its channel. */
abstract class BufferSide implements ReceiveSide {

  private final ResolvedOptions options;
  private final int messages;

  /**
   * Creates a receive side.
   *
   * @param options this side's options
   * @param messages the number of messages that this side grants at first
   */
  BufferSide(ResolvedOptions options, int messages) {
    this.options = options;
    this.messages = messages;
  }

  /** Returns the buffers, which must have been created. */
  abstract ReceiveBuffers buffers();

  /** Returns the connection's share of the buffers; null if it owns all of them. */
  abstract SharedReceives.@Nullable Share share();

  /** Returns the buffers' memory. */
  abstract MemorySegment view();

  @Override
  public final HelloBody offer() {
    return own().body();
  }

  private Offer own() {
    return new Offer(
        RdmaOptions.isOn(options, SendRecvOptions.CREDITS),
        RdmaOptions.maxMessage(options),
        messages);
  }

  @Override
  public final Agreement agree(@Nullable Hello peer) {
    Offer own = own();
    if (peer == null) {
      return new BufferAgreement(true, false, own);
    }
    Offer other = Offer.of(peer);
    return new BufferAgreement(false, own.credits() && other.credits(), other);
  }

  /** The agreed terms. In plain mode the peer's offer is assumed to equal this side's. */
  private final class BufferAgreement implements Agreement {

    private final boolean plain;
    private final boolean credits;
    private final Offer peer;

    BufferAgreement(boolean plain, boolean credits, Offer peer) {
      this.plain = plain;
      this.credits = credits;
      this.peer = peer;
    }

    @Override
    public int peerMaxMessage() {
      return peer.maxMessage();
    }

    @Override
    public boolean isFlowControlled() {
      return credits;
    }

    @Override
    public Channel open(Channel.Parts parts) {
      return new SendRecvChannel(
          parts,
          new SendRecvChannel.Terms(plain, credits, messages, peer.granted()),
          buffers(),
          share(),
          view());
    }
  }
}
