// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_qp;
import dev.ferrule.bindings.verbs.ibv_qp_attr;
import dev.ferrule.bindings.verbs.ibv_qp_cap;
import dev.ferrule.bindings.verbs.ibv_qp_init_attr;
import dev.ferrule.verbs.calls.RawMemory;
import dev.ferrule.verbs.calls.VerbsCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A reliably connected queue pair ({@code ibv_qp} of the type RC), made and destroyed with its
 * connection: see {@link dev.ferrule.verbs.cm.CmId#createQueuePair}.
 *
 * <p><b>Threads:</b> one thread at a time posts to the send queue, and one to the receive queue.
 */
public final class QueuePair implements ReceiveWorkQueue {

  private static final int TYPE_RC = 2;
  private static final int MASK_STATE = 1;
  private static final int MASK_MIN_RNR_TIMER = 1 << 15;
  private static final int STATE_ERROR = 6;

  private final VerbsContext context;
  private final VerbsCalls calls;
  private final long address;
  private final int number;
  private final QueuePairSizes sizes;

  /**
   * Takes over a queue pair that was made.
   *
   * @param context its device
   * @param address the address of the {@code ibv_qp}
   * @param sizes what the device has made of it
   */
  public QueuePair(VerbsContext context, long address, QueuePairSizes sizes) {
    this.context = context;
    this.calls = context.calls();
    this.address = address;
    this.number = RawMemory.getInt(address + ibv_qp.qp_num$offset());
    this.sizes = sizes;
  }

  /**
   * Describes a queue pair that is to be made.
   *
   * @param arena owns the result
   * @param sizes what it has to be good for
   * @param sends where its sends complete
   * @param receives where its receives complete
   * @param shared where its receives come from; null for a queue of its own
   * @return an {@code ibv_qp_init_attr}
   */
  public static MemorySegment describe(
      Arena arena,
      QueuePairSizes sizes,
      CompletionQueue sends,
      CompletionQueue receives,
      @Nullable SharedReceiveQueue shared) {
    MemorySegment attributes = ibv_qp_init_attr.allocate(arena);
    ibv_qp_init_attr.qp_type(attributes, TYPE_RC);
    ibv_qp_init_attr.send_cq(attributes, MemorySegment.ofAddress(sends.address()));
    ibv_qp_init_attr.recv_cq(attributes, MemorySegment.ofAddress(receives.address()));
    if (shared != null) {
      ibv_qp_init_attr.srq(attributes, MemorySegment.ofAddress(shared.address()));
    }
    MemorySegment capacities = ibv_qp_init_attr.cap(attributes);
    ibv_qp_cap.max_send_wr(capacities, sizes.sends());
    ibv_qp_cap.max_recv_wr(capacities, sizes.receives());
    ibv_qp_cap.max_send_sge(capacities, 1);
    ibv_qp_cap.max_recv_sge(capacities, 1);
    ibv_qp_cap.max_inline_data(capacities, sizes.inline());
    return attributes;
  }

  /**
   * Reads the sizes from a description, which the device has rounded up.
   *
   * @param attributes an {@code ibv_qp_init_attr}
   * @return the sizes
   */
  public static QueuePairSizes sizes(MemorySegment attributes) {
    MemorySegment capacities = ibv_qp_init_attr.cap(attributes);
    return new QueuePairSizes(
        ibv_qp_cap.max_send_wr(capacities),
        ibv_qp_cap.max_recv_wr(capacities),
        ibv_qp_cap.max_inline_data(capacities));
  }

  /**
   * Returns the number by which completions and peers name the queue pair.
   *
   * @return the number, of 24 bits
   */
  public int number() {
    return number;
  }

  /**
   * Returns the address of the C object, by which an {@link AsyncEvent} names it.
   *
   * @return the address of the {@code ibv_qp}
   */
  public long address() {
    return address;
  }

  /**
   * Returns how large the queues are.
   *
   * @return the sizes that the device has chosen, no less than asked for
   */
  public QueuePairSizes sizes() {
    return sizes;
  }

  /**
   * Posts sends, with one doorbell. Does not wait or allocate.
   *
   * @param chain holds them
   * @param first the first one
   * @param count how many, at least 1
   * @return 0; below 0 if one was not taken, such as -ENOMEM for a full queue: then {@link
   *     SendChain#failedIndex} says which
   */
  public int post(SendChain chain, int first, int count) {
    int result = calls.postSend(context.postSend(), address, chain.cut(first, count), chain.bad());
    chain.join(first, count);
    return result;
  }

  @Override
  public int post(ReceiveChain chain, int first, int count) {
    int result = calls.postRecv(context.postRecv(), address, chain.cut(first, count), chain.bad());
    chain.join(first, count);
    return result;
  }

  /**
   * Sets how long the peer is to wait before it repeats a message for which there was no receive.
   * librdmacm leaves it at 0, which is the longest.
   *
   * @param code 0 for 655 ms, 1 for 10 µs, up to 31 for 491 ms, by the table of the InfiniBand
   *     specification (9.7.5.2.8)
   * @throws VerbsException if the queue pair is not connected
   */
  public void setMinRnrTimer(int code) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = ibv_qp_attr.allocate(arena);
      ibv_qp_attr.min_rnr_timer(attributes, (byte) code);
      modify(attributes, MASK_MIN_RNR_TIMER, "min_rnr_timer " + code);
    }
  }

  /**
   * Puts the queue pair into the error state, in which all its work requests are flushed: each of
   * them completes with {@link CompletionStatus#FLUSHED}.
   *
   * @throws VerbsException if the device is gone
   */
  public void toError() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = ibv_qp_attr.allocate(arena);
      ibv_qp_attr.qp_state(attributes, STATE_ERROR);
      modify(attributes, MASK_STATE, "error state");
    }
  }

  private void modify(MemorySegment attributes, int mask, String subject) {
    VerbsException.check("ibv_modify_qp", subject, calls.modifyQp(address, attributes, mask));
  }
}
