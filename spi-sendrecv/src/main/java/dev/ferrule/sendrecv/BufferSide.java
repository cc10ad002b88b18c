// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.sendrecv.queue.ReceiveBuffers;
import dev.ferrule.sendrecv.queue.SendRecvChannel;
import dev.ferrule.sendrecv.queue.SharedReceives;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.verbs.connection.Agreement;
import dev.ferrule.verbs.connection.Hello;
import dev.ferrule.verbs.connection.HelloBody;
import dev.ferrule.verbs.connection.RdmaOptions;
import dev.ferrule.verbs.connection.ReceiveSide;
import dev.ferrule.verbs.queue.Channel;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A connection that receives into buffers: what that means for the hello, and for the channel. */
abstract class BufferSide implements ReceiveSide {

  private final ConnectionOptions options;
  private final int messages;

  /**
   * Begins with numbers.
   *
   * @param options this side's options
   * @param messages for how many messages there is room at first
   */
  BufferSide(ConnectionOptions options, int messages) {
    this.options = options;
    this.messages = messages;
  }

  /** The buffers, which are made. */
  abstract ReceiveBuffers buffers();

  /** The connection's part of them; null if it has all. */
  abstract SharedReceives.@Nullable Share share();

  /** The buffers' memory, to be read as long as the connection lives. */
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
      return new Terms(true, false, own);
    }
    Offer other = Offer.of(peer);
    return new Terms(false, own.credits() && other.credits(), other);
  }

  /** What was agreed on; in the plain mode the peer's offer is supposed to be like this side's. */
  private final class Terms implements Agreement {

    private final boolean plain;
    private final boolean credits;
    private final Offer peer;

    Terms(boolean plain, boolean credits, Offer peer) {
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
