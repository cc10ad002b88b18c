// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.Acknowledgment;
import dev.ferrule.rdma.queue.SendProtocol;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The send protocol of {@code magicring}: messages are RDMA WRITEs with immediate data into the
 * peer's ring, and control messages are SENDs. An acknowledgment reports which messages in this
 * side's ring were freed. A want reports that the peer's ring has no space for a message; the peer
 * then acknowledges everything freed, without waiting until more is freed.
 *
 * <p>At most one want is in flight; see {@link RingSpace#isWantDue}.
 */
final class RingSends implements SendProtocol {

  private final @Nullable RingSpace space;
  private final int peerKey;
  private final @Nullable RingMessages messages;

  /**
   * Creates a send protocol with empty rings.
   *
   * @param space the peer's ring; null if this side only receives
   * @param peerKey the key of the peer's ring
   * @param messages this side's ring; null if this side only sends
   */
  RingSends(@Nullable RingSpace space, int peerKey, @Nullable RingMessages messages) {
    this.space = space;
    this.peerKey = peerKey;
    this.messages = messages;
  }

  private RingSpace space() {
    RingSpace known = space;
    if (known == null) {
      throw new IllegalStateException("the connection is simplex, and this side only receives");
    }
    return known;
  }

  @Override
  public boolean tryReserve(int length) {
    return space().tryReserve(length);
  }

  @Override
  public int reserveAhead(int length, int most) {
    int count = 0;
    while (count < most && space().tryReserveAhead(length)) {
      count++;
    }
    return count;
  }

  @Override
  public void unreserve(int length, int count) {
    space().unreserve(length, count);
  }

  @Override
  public SendOperation messageOperation() {
    return SendOperation.RDMA_WRITE_WITH_IMMEDIATE;
  }

  @Override
  public void prepare(SendChain chain, int index, int reservedLength, int length) {
    chain.setRemote(index, space().place(reservedLength, length), peerKey);
    chain.setImmediate(index, length);
  }

  @Override
  public boolean isAllBack() {
    return space == null || space.isAllBack();
  }

  @Override
  public boolean isReportDue() {
    return (messages != null && messages.isAckDue()) || isWantDue();
  }

  /**
   * Returns true for any unacknowledged free or a due want: a program that frees a few messages and
   * then stops polling must not keep its peer waiting.
   */
  @Override
  public boolean isReportPending() {
    return (messages != null && messages.isAckOwed()) || isWantDue();
  }

  private boolean isWantDue() {
    return space != null && space.isWantDue();
  }

  @Override
  public boolean mayReport() {
    return true; // RingReceives explains why the peer has a receive for each
  }

  @Override
  public SendOperation controlOperation() {
    return SendOperation.SEND;
  }

  @Override
  public int prepareReport(SendChain chain, int index, MemorySegment memory, long offset) {
    // An acknowledgment may have arrived in the meantime, so that no want is due. But an
    // acknowledgment of this side must acknowledge something, and a superfluous want is harmless.
    boolean want = isWantDue() || messages == null || !messages.isAckOwed();
    if (want) {
      space().wantSent();
    }
    return prepare(want ? Acknowledgment.WANT : Acknowledgment.ACK, memory, offset);
  }

  @Override
  public int prepareEnd(SendChain chain, int index, MemorySegment memory, long offset) {
    return prepare(Acknowledgment.END, memory, offset);
  }

  @Override
  public boolean saysGoodbye() {
    return true;
  }

  @Override
  public int prepareGoodbye(SendChain chain, int index, MemorySegment memory, long offset) {
    return prepare(Acknowledgment.GOODBYE, memory, offset);
  }

  private int prepare(int type, MemorySegment memory, long offset) {
    RingMessages ring = messages;
    if (ring == null) {
      Acknowledgment.write(memory, offset, type, 0, 0, 0);
    } else {
      ring.acknowledge();
      Acknowledgment.write(
          memory,
          offset,
          type,
          ring.wantsTaken(),
          ring.acknowledgedMessages(),
          ring.acknowledgedBytes());
    }
    return Acknowledgment.SIZE;
  }
}
