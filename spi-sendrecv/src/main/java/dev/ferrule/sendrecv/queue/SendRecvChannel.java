// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.MessageQueue;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.CompletionQueue;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The data path of a connection that receives into buffers, with the credits of both sides. */
public final class SendRecvChannel extends Channel {

  /** The number of receives posted for control messages, in addition to those for messages. */
  public static final int CONTROL_RECEIVES = Window.CONTROL_RECEIVES;

  private final ReceiveBuffers buffers;
  private final Window window;
  private final BufferReposter reposter;
  private final Terms terms;
  private final SharedReceives.@Nullable Share share;

  /**
   * The terms agreed by both sides.
   *
   * @param plain whether messages carry no immediate data
   * @param credits whether credits are used
   * @param receives the number of receives that this side has posted for messages
   * @param peerReceives the number of receives that the peer has posted for messages
   */
  public record Terms(boolean plain, boolean credits, int receives, int peerReceives) {

    private Window window() {
      return new Window(plain, credits, receives, peerReceives);
    }
  }

  /**
   * Creates a channel.
   *
   * @param parts the resources of the connection
   * @param terms the agreed terms
   * @param buffers the receive buffers
   * @param share the connection's share if several connections share the buffers; otherwise null
   * @param view the buffers' memory
   */
  public SendRecvChannel(
      Parts parts,
      Terms terms,
      ReceiveBuffers buffers,
      SharedReceives.@Nullable Share share,
      MemorySegment view) {
    this(parts, terms, terms.window(), buffers, share, view);
  }

  private SendRecvChannel(
      Parts parts,
      Terms terms,
      Window window,
      ReceiveBuffers buffers,
      SharedReceives.@Nullable Share share,
      MemorySegment view) {
    // without credits, messages may also use the buffers for control messages
    super(
        parts,
        new CreditedSends(window),
        new MessageQueue(share == null ? buffers.count() : share.mostTaken()),
        view);
    this.buffers = buffers;
    this.window = window;
    this.terms = terms;
    this.share = share;
    if (share == null) {
      this.reposter =
          new OwnBufferReposter(parts.queuePair(), buffers, window, this, terms.receives());
    } else {
      this.reposter = share;
      share.join(this, window);
    }
  }

  @Override
  protected @Nullable String received(CompletionQueue completions, int index) {
    int buffer = (int) completions.workRequestId(index);
    if (window.plain()) {
      window.messageReceived();
      message(buffer, completions.length(index));
      return null;
    }
    if (!completions.hasImmediate(index)) {
      return "a message arrived without immediate data (is the peer in plain mode, hello=off?)";
    }
    return received(completions.immediate(index), buffer, completions.length(index));
  }

  private @Nullable String received(int immediate, int buffer, int length) {
    if (!window.take(immediate)) {
      return "credit count went backwards: 0x" + Integer.toHexString(immediate);
    }
    switch (Immediate.type(immediate)) {
      case Immediate.MESSAGE -> {
        if (!window.messageReceived()) {
          return "the peer sent more messages than it had credit for";
        }
        String objection = checkNotEnded();
        if (objection != null) {
          return objection;
        }
        message(buffer, length);
      }
      case Immediate.GRANT, Immediate.GOODBYE, Immediate.END -> {
        if (!window.controlReceived()) {
          return "the peer sent more control messages than may be in flight";
        }
        String objection = Immediate.type(immediate) == Immediate.END ? endReceived() : null;
        if (objection != null) {
          return objection;
        }
        posted(reposter.control(buffer));
        if (Immediate.type(immediate) == Immediate.GOODBYE) {
          goodbyeReceived();
        }
      }
      default -> {
        return "a message has the unknown type " + Immediate.type(immediate);
      }
    }
    return null;
  }

  private void message(int buffer, int length) {
    reposter.filled(buffer);
    deliver(buffer, length);
  }

  @Override
  protected void dropped(int receive) {
    reposter.dropped(receive);
  }

  @Override
  public long offset(int buffer) {
    return buffers.offset(buffer);
  }

  @Override
  protected void freed(int buffer) {
    reposter.free(buffer);
  }

  @Override
  protected void releaseHeldBackSpace() {
    reposter.repostForBlockedPeer();
  }

  @Override
  protected void repostAll() {
    reposter.repostAll();
  }

  @Override
  public boolean isExhausted(int held) {
    if (!terms.credits()) { // then messages also use the receives for control messages
      return share == null && held == buffers.count(); // other connections may hold shared buffers
    }
    return held == (share == null ? terms.receives() : share.capacity());
  }

  @Override
  protected void stopReceives() {
    reposter.close();
  }
}
