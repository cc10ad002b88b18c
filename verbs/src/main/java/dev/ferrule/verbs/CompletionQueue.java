// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.libibverbs.ibv_wc;
import java.lang.foreign.Arena;
import java.lang.ref.Reference;

/**
 * A completion queue ({@code ibv_cq}), and the completions of the last poll.
 *
 * {@snippet lang=java :
 * try (VerbsContext context = VerbsLibrary.system().open("rxe0");
 *     CompletionQueue queue = context.createCompletionQueue(64, null, 0)) {
 *   int count = queue.poll(CompletionQueue.BATCH);
 *   for (int i = 0; i < count; i++) {
 *     System.out.println(queue.workRequestId(i) + " ended with " + queue.status(i));
 *   }
 * }
 * }
 *
 * <p><b>Threads:</b> one thread at a time polls and reads the completions.
 */
public final class CompletionQueue implements AutoCloseable {

  /** The maximum number of completions per poll. */
  public static final int BATCH = 32;

  private static final long SIZE = ibv_wc.sizeof();
  private static final long ID = ibv_wc.wr_id$offset();
  private static final long STATUS = ibv_wc.status$offset();
  private static final long OPCODE = ibv_wc.opcode$offset();
  private static final long VENDOR_ERROR = ibv_wc.vendor_err$offset();
  private static final long LENGTH = ibv_wc.byte_len$offset();
  private static final long IMMEDIATE = ibv_wc.imm_data$offset();
  private static final long QUEUE_PAIR = ibv_wc.qp_num$offset();
  private static final long FLAGS = ibv_wc.wc_flags$offset();

  private static final int FLAG_WITH_IMMEDIATE = 2;
  private static final int OPCODE_RECEIVE = 1 << 7;
  private static final int OPCODE_RECEIVE_OF_WRITE = OPCODE_RECEIVE + 1;

  private final VerbsContext context;
  private final long address;
  private final Arena arena = Arena.ofAuto();
  private final long completions;

  CompletionQueue(VerbsContext context, long address) {
    this.context = context;
    this.address = address;
    this.completions = arena.allocate(BATCH * SIZE, Long.BYTES).address();
  }

  /** {@return the address of the C object, as in {@link AsyncEvent#element()}} */
  public long address() {
    return address;
  }

  /**
   * Polls for completions. Does not wait or allocate.
   *
   * @param limit the maximum number of completions, 1 to {@link #BATCH}
   * @return the number of completions; below 0 on failure, such as a removed device: a number
   *     without meaning, since drivers return different ones
   */
  public int poll(int limit) {
    try {
      return context.calls().pollCq(context.pollCq(), address, limit, completions);
    } finally {
      Reference.reachabilityFence(arena); // the call has only its address
    }
  }

  /**
   * Requests one event on the queue's channel at the next completion. Completions that are already
   * in the queue cause no event, so poll the queue once more after this call.
   *
   * @return 0; or -errno
   */
  public int requestNotification() {
    return context.calls().reqNotifyCq(context.reqNotifyCq(), address, 0);
  }

  /**
   * Returns the id of a work request.
   *
   * @param index the completion, from 0
   * @return the id that was set when the request was posted
   */
  public long workRequestId(int index) {
    return RawMemory.getLong(completions + index * SIZE + ID);
  }

  /**
   * Returns whether a work request succeeded. If not, only its id, {@link #status}, {@link
   * #queuePairNumber} and {@link #vendorError} are valid.
   *
   * @param index the completion, from 0
   * @return whether it succeeded
   */
  public boolean isSuccess(int index) {
    return RawMemory.getInt(completions + index * SIZE + STATUS) == 0;
  }

  /**
   * Returns the status of a work request.
   *
   * @param index the completion, from 0
   * @return the status
   */
  public CompletionStatus status(int index) {
    return CompletionStatus.of(RawMemory.getInt(completions + index * SIZE + STATUS));
  }

  /**
   * Returns the vendor's error code.
   *
   * @param index the completion, from 0
   * @return the code
   */
  public int vendorError(int index) {
    return RawMemory.getInt(completions + index * SIZE + VENDOR_ERROR);
  }

  /**
   * Returns whether a work request was a receive.
   *
   * @param index the completion, from 0
   * @return whether it was
   */
  public boolean isReceive(int index) {
    return (RawMemory.getInt(completions + index * SIZE + OPCODE) & OPCODE_RECEIVE) != 0;
  }

  /**
   * Returns whether a receive was consumed by an RDMA WRITE with immediate data. The bytes of such
   * a WRITE are at its remote address, not in the receive's buffer.
   *
   * @param index the completion, from 0; of a receive
   * @return whether it was; false for a SEND
   */
  public boolean isWriteWithImmediate(int index) {
    return RawMemory.getInt(completions + index * SIZE + OPCODE) == OPCODE_RECEIVE_OF_WRITE;
  }

  /**
   * Returns the length of a received message.
   *
   * @param index the completion, from 0
   * @return the length in bytes
   */
  public int length(int index) {
    return RawMemory.getInt(completions + index * SIZE + LENGTH);
  }

  /**
   * Returns whether a received message carries immediate data.
   *
   * @param index the completion, from 0
   * @return whether it does
   */
  public boolean hasImmediate(int index) {
    return (RawMemory.getInt(completions + index * SIZE + FLAGS) & FLAG_WITH_IMMEDIATE) != 0;
  }

  /**
   * Returns the immediate data of a received message.
   *
   * @param index the completion, from 0
   * @return the data, in host byte order
   */
  public int immediate(int index) {
    return Integer.reverseBytes(RawMemory.getInt(completions + index * SIZE + IMMEDIATE));
  }

  /**
   * Returns the number of the completion's queue pair.
   *
   * @param index the completion, from 0
   * @return the number
   */
  public int queuePairNumber(int index) {
    return RawMemory.getInt(completions + index * SIZE + QUEUE_PAIR);
  }

  @Override
  public void close() {
    VerbsException.check("ibv_destroy_cq", "", context.calls().destroyCq(address));
  }
}
