// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.Acknowledgment;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.MessageQueue;
import dev.ferrule.verbs.CompletionQueue;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The data path of a connection that receives into a ring, with the acknowledgments of both sides.
 */
public final class RingChannel extends Channel {

  private final @Nullable RingSpace space;
  private final @Nullable RingMessages ring;
  private final RingReceives receives;

  /**
   * Creates a channel.
   *
   * @param parts the resources of the connection
   * @param space the peer's ring; null if this side only receives
   * @param peerKey the key of the peer's ring
   * @param ring this side's ring; null if this side only sends
   * @param memory the memory of this side's ring; null if this side only sends
   * @param receives the posted receives
   */
  public RingChannel(
      Parts parts,
      @Nullable RingSpace space,
      int peerKey,
      @Nullable RingMessages ring,
      @Nullable Ring memory,
      RingReceives receives) {
    super(
        parts,
        new RingSends(space, peerKey, ring),
        ring == null ? new MessageQueue(1) : ring,
        memory == null ? MemorySegment.NULL : memory.view());
    this.space = space;
    this.ring = ring;
    this.receives = receives;
  }

  @Override
  protected @Nullable String received(CompletionQueue completions, int index) {
    int receive = (int) completions.workRequestId(index);
    if (completions.isWriteWithImmediate(index)) {
      posted(receives.done(receive));
      return messageReceived(completions.immediate(index), completions.length(index));
    }
    if (completions.hasImmediate(index)) {
      return "a control message has immediate data";
    }
    if (completions.length(index) != Acknowledgment.SIZE) {
      return "a control message has %d bytes instead of %d"
          .formatted(completions.length(index), Acknowledgment.SIZE);
    }
    MemorySegment memory = receives.memory();
    long offset = RingReceives.offset(receive);
    int type = Acknowledgment.type(memory, offset);
    int wantsTaken = Acknowledgment.wantsTaken(memory, offset);
    long messagesFreed = Acknowledgment.messagesFreed(memory, offset);
    long bytesFreed = Acknowledgment.bytesFreed(memory, offset);
    // before the content is handled, which may free space for another message
    posted(receives.done(receive));
    String objection = controlReceived(type, messagesFreed, bytesFreed);
    return objection == null && space != null ? space.takeWants(wantsTaken) : objection;
  }

  private @Nullable String messageReceived(int length, int written) {
    RingMessages own = ring;
    if (own == null) {
      return "the peer sent a message over a simplex connection on which it only receives";
    }
    if (length != written) {
      return "the peer sent a message of %d bytes whose immediate data says %s"
          .formatted(written, Integer.toUnsignedString(length));
    }
    String objection = checkNotEnded();
    if (objection != null) {
      return objection;
    }
    return own.arrived(length) == RingMessages.REFUSED ? own.objection() : null;
  }

  private @Nullable String controlReceived(int type, long messagesFreed, long bytesFreed) {
    String objection =
        switch (type) {
          case Acknowledgment.ACK -> acknowledged(messagesFreed, bytesFreed, true);
          case Acknowledgment.WANT, Acknowledgment.END, Acknowledgment.GOODBYE ->
              acknowledged(messagesFreed, bytesFreed, false);
          default -> "a control message has an unknown type";
        };
    if (objection == null && type == Acknowledgment.END) {
      return ring == null
          ? "the peer ended the messages of a simplex connection on which it only receives"
          : endReceived();
    }
    if (objection == null && type == Acknowledgment.GOODBYE) {
      goodbyeReceived();
    } else if (objection == null && type == Acknowledgment.WANT && ring != null) {
      ring.wanted();
    }
    return objection;
  }

  private @Nullable String acknowledged(long messagesFreed, long bytesFreed, boolean more) {
    RingSpace room = space;
    if (room == null) {
      return messagesFreed == 0 && bytesFreed == 0
          ? null
          : "the peer acknowledged messages of a simplex connection on which it only sends";
    }
    return more
        ? room.takeAck(messagesFreed, bytesFreed)
        : room.takeNumbers(messagesFreed, bytesFreed);
  }

  @Override
  protected void dropped(int receive) {
    // the connection has ended, and its receives with it
  }

  private RingMessages ring() {
    RingMessages known = ring;
    if (known == null) {
      throw new IllegalStateException("the connection is simplex, and this side only sends");
    }
    return known;
  }

  @Override
  public long offset(int slot) {
    return ring().offset(slot);
  }

  @Override
  protected void freed(int slot) {
    ring().free(slot);
    reportIfDue();
  }

  @Override
  protected void releaseHeldBackSpace() {
    if (ring().isAckOwed()) {
      ring().publishFrees();
      reportIfDue();
    }
  }

  @Override
  public boolean isExhausted(int held) {
    RingMessages own = ring();
    // In this order: while this thread checks, another thread may poll a message that fills the
    // ring.
    boolean full = own.freeMessages() == 0 || own.freeBytes() == 0;
    return full && held >= own.heldMessages();
  }

  @Override
  protected void stopReceives() {
    receives.stop();
  }
}
