// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_qp;
import dev.ferrule.verbs.libibverbs.ibv_qp_attr;
import dev.ferrule.verbs.libibverbs.ibv_qp_cap;
import dev.ferrule.verbs.libibverbs.ibv_qp_init_attr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A reliably connected queue pair ({@code ibv_qp} of the type RC), created and destroyed with its
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
   * Takes ownership of a queue pair.
   *
   * @param context the context of its device
   * @param address the address of the {@code ibv_qp}
   * @param sizes the sizes that the device has chosen
   */
  public QueuePair(VerbsContext context, long address, QueuePairSizes sizes) {
    this.context = context;
    this.calls = context.calls();
    this.address = address;
    this.number = RawMemory.getInt(address + ibv_qp.qp_num$offset());
    this.sizes = sizes;
  }

  /**
   * Returns the initial attributes of a queue pair of type RC, with {@code sq_sig_all} 0: only
   * requests with {@link SendChain#SIGNALED} complete with a completion.
   *
   * @param arena owns the result
   * @param sizes the minimum sizes
   * @param sends the completion queue of its sends
   * @param receives the completion queue of its receives
   * @param shared the shared receive queue; null for a receive queue of its own
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
    ibv_qp_cap.max_send_sge(capacities, sizes.pieces());
    ibv_qp_cap.max_recv_sge(capacities, 1);
    ibv_qp_cap.max_inline_data(capacities, sizes.inline());
    return attributes;
  }

  /**
   * Returns the sizes in initial attributes, which the device has rounded up.
   *
   * @param attributes an {@code ibv_qp_init_attr}
   * @return the sizes
   */
  public static QueuePairSizes sizes(MemorySegment attributes) {
    MemorySegment capacities = ibv_qp_init_attr.cap(attributes);
    return new QueuePairSizes(
        ibv_qp_cap.max_send_wr(capacities),
        ibv_qp_cap.max_recv_wr(capacities),
        ibv_qp_cap.max_inline_data(capacities),
        ibv_qp_cap.max_send_sge(capacities));
  }

  /** {@return the queue pair number, of 24 bits, which completions carry} */
  public int number() {
    return number;
  }

  /** {@return the address of the C object, as in {@link AsyncEvent#element()}} */
  public long address() {
    return address;
  }

  /** {@return the sizes of the queues, which the device has chosen: at least the requested ones} */
  public QueuePairSizes sizes() {
    return sizes;
  }

  /**
   * Posts send requests, with one doorbell. Does not wait or allocate. In the error state posting
   * succeeds, and each request completes with {@link CompletionStatus#FLUSHED}.
   *
   * @param chain the chain of the requests
   * @param first the index of the first request
   * @param count the number of requests, at least 1
   * @return 0; -errno if a request was not posted, such as -ENOMEM for a full queue: {@link
   *     SendChain#failedIndex} returns the first such request
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
   * Sets the minimum RNR NAK timer: how long the peer waits before it retries a message for which
   * no receive was posted. librdmacm leaves it at 0, the longest time.
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
   * Moves the queue pair to the error state, in which all outstanding work requests are flushed:
   * each completes with {@link CompletionStatus#FLUSHED}.
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
