// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.queue.Channel;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A connection whose messages come into receive buffers; with the credits of both sides. */
public final class SendRecvChannel extends Channel {

  /** Receives that are posted for control messages, beside those for messages. */
  public static final int CONTROL_RECEIVES = Window.CONTROL_RECEIVES;

  private final ReceiveBuffers buffers;
  private final Window window;
  private final Returns returns;
  private final Terms terms;
  private final SharedReceives.@Nullable Share share;

  /**
   * What the two sides have agreed on.
   *
   * @param plain whether messages carry no immediate data
   * @param credits whether there are credits
   * @param receives for how many messages this side has room
   * @param peerReceives for how many the peer has
   */
  public record Terms(boolean plain, boolean credits, int receives, int peerReceives) {

    private Window window() {
      return new Window(plain, credits, receives, peerReceives);
    }
  }

  /**
   * Puts a connection's queues together.
   *
   * @param parts what it is made of
   * @param terms what was agreed on
   * @param buffers what it receives into
   * @param share its part of the buffers, if those are shared by several connections; else null
   * @param view the buffers' memory, to be read as long as the connection lives
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
    // without credits, messages may come into the buffers for control messages as well
    super(
        parts,
        new CreditedSends(window),
        share == null ? buffers.count() : share.mostTaken(),
        view);
    this.buffers = buffers;
    this.window = window;
    this.terms = terms;
    this.share = share;
    if (share == null) {
      this.returns = new OwnReturns(parts.queuePair(), buffers, window, this, terms.receives());
    } else {
      this.returns = share;
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
      return "a message came without immediate data; is the peer in the plain mode (hello=off)?";
    }
    return received(completions.immediate(index), buffer, completions.length(index));
  }

  private @Nullable String received(int immediate, int buffer, int length) {
    if (!window.take(immediate)) {
      return "its credits make no sense: 0x" + Integer.toHexString(immediate);
    }
    switch (Immediate.type(immediate)) {
      case Immediate.MESSAGE -> {
        if (!window.messageReceived()) {
          return "it sent more messages than it had credit for";
        }
        message(buffer, length);
      }
      case Immediate.GRANT, Immediate.GOODBYE -> {
        if (!window.controlReceived()) {
          return "it sent more control messages than may be under way";
        }
        posted(returns.control(buffer));
        if (Immediate.type(immediate) == Immediate.GOODBYE) {
          goodbyeReceived();
        }
      }
      default -> {
        return "a message came of the unknown type " + Immediate.type(immediate);
      }
    }
    return null;
  }

  private void message(int buffer, int length) {
    returns.taken(buffer);
    deliver(buffer, length);
  }

  @Override
  protected void dropped(int receive) {
    returns.dropped(receive);
  }

  @Override
  public long offset(int buffer) {
    return buffers.offset(buffer);
  }

  @Override
  protected void freed(int buffer) {
    returns.free(buffer);
  }

  @Override
  protected void giveOnForStarvingPeer() {
    returns.freeForStarvingPeer();
  }

  @Override
  protected boolean keepsFreed() {
    return returns.keepsAny();
  }

  @Override
  public boolean isExhausted(int held) {
    if (!terms.credits()) { // then messages take the receives for control messages as well
      return share == null && held == buffers.count(); // of shared buffers, others may have some
    }
    return held == (share == null ? terms.receives() : share.capacity());
  }

  @Override
  protected void stopReceives() {
    returns.close();
  }
}
