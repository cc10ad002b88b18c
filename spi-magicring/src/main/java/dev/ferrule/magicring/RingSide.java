// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import dev.ferrule.magicring.ring.Acknowledge;
import dev.ferrule.magicring.ring.Mapping;
import dev.ferrule.magicring.ring.Ring;
import dev.ferrule.magicring.ring.RingChannel;
import dev.ferrule.magicring.ring.RingMessages;
import dev.ferrule.magicring.ring.RingReceives;
import dev.ferrule.magicring.ring.RingSpace;
import dev.ferrule.magicring.wire.RingOffer;
import dev.ferrule.rdma.connection.Agreement;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.rdma.connection.HelloBody;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.rdma.connection.ReceiveSide;
import dev.ferrule.rdma.context.Cleanup;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SharedReceiveQueue;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/** The receive side of a connection that receives into a ring: its offer, and its channel. */
final class RingSide implements ReceiveSide {

  private final SharedDevice device;
  private final Arena arena;
  private final boolean simplex;
  private final boolean sendsOnly;
  private final boolean huge;
  private final Mapping mapping;
  private final Acknowledge acknowledge;
  private final long ringSize;
  private final int maxMessage;
  private final int window;
  private @Nullable Ring ring;
  private @Nullable RingReceives receives;

  RingSide(SharedDevice device, Arena arena, ResolvedOptions options, boolean connects) {
    this.device = device;
    this.arena = arena;
    this.simplex = RdmaOptions.isOn(options, MagicRingOptions.SIMPLEX);
    this.sendsOnly = simplex && connects;
    this.huge = RdmaOptions.isOn(options, MagicRingOptions.HUGE_PAGES);
    this.mapping = options.get(MagicRingOptions.MAPPING);
    this.acknowledge = options.get(MagicRingOptions.ACKNOWLEDGE);
    this.ringSize = MagicRingOptions.ringSize(options);
    this.maxMessage = RdmaOptions.maxMessage(options);
    this.window = options.get(MagicRingOptions.WINDOW);
  }

  @Override
  public int receives() {
    return RingReceives.countFor(window, simplex);
  }

  @Override
  public @Nullable SharedReceiveQueue sharedQueue() {
    return null;
  }

  @Override
  public void start(QueuePair queuePair) {
    if (!sendsOnly) {
      ring = Ring.make(device.domain(), arena, ringSize, mapping, huge);
    }
    RingReceives made = new RingReceives(device.domain(), arena, queuePair, receives());
    receives = made;
    made.postAll();
  }

  @Override
  public HelloBody offer() {
    Ring made = ring;
    RingOffer offer =
        made == null
            ? new RingOffer(false, sendsOnly, 0, 0, 0, window)
            : new RingOffer(
                mapping == Mapping.PLAIN,
                sendsOnly,
                made.remoteKey(),
                ringSize,
                maxMessage,
                window);
    return offer.body();
  }

  @Override
  public Agreement agree(@Nullable Hello peer) {
    if (peer == null) {
      throw new IllegalStateException("magicring requires a handshake");
    }
    return new RingAgreement(RingOffer.of(peer));
  }

  @Override
  public void stop() {
    if (receives != null) {
      receives.stop();
    }
  }

  @Override
  public void close() {
    Cleanup.close(receives, ring);
  }

  @Override
  public void discard() {
    if (ring != null) {
      ring.discard();
    }
  }

  /** The agreed terms. */
  private final class RingAgreement implements Agreement {

    private final RingOffer peer;
    private final int agreedWindow;

    RingAgreement(RingOffer peer) {
      this.peer = peer;
      this.agreedWindow = Math.min(window, peer.window());
    }

    @Override
    public int peerMaxMessage() {
      return Math.min(peer.maxMessage(), peerMapping().longest(peer.ringSize()));
    }

    private Mapping peerMapping() {
      return peer.plain() ? Mapping.PLAIN : Mapping.MAGIC;
    }

    @Override
    public boolean isFlowControlled() {
      return true;
    }

    @Override
    public boolean canSend() {
      return peer.ringSize() > 0;
    }

    @Override
    public boolean canReceive() {
      return !sendsOnly;
    }

    @Override
    public Channel open(Channel.Parts parts) {
      RingReceives posted = receives;
      if (posted == null) {
        throw new IllegalStateException("the receive side has not started");
      }
      RingSpace space =
          canSend() ? new RingSpace(peer.ringSize(), peerMapping(), agreedWindow) : null;
      Ring own = ring;
      RingMessages messages =
          own == null
              ? null
              : new RingMessages(ringSize, mapping, agreedWindow, maxMessage, acknowledge);
      return new RingChannel(parts, space, peer.key(), messages, own, posted);
    }
  }
}
