// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_wc;
import dev.ferrule.verbs.calls.RawMemory;
import java.lang.foreign.Arena;
import java.lang.ref.Reference;

/**
 * A completion queue ({@code ibv_cq}), and the completions that were polled last.
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
 * <p><b>Threads:</b> one thread at a time polls and reads what it polled.
 */
public final class CompletionQueue implements AutoCloseable {

  /** How many completions are polled at a time, at most. */
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

  /**
   * Returns the address of the C object, by which an {@link AsyncEvent} names it.
   *
   * @return the address of the {@code ibv_cq}
   */
  public long address() {
    return address;
  }

  /**
   * Takes completions. Does not wait or allocate.
   *
   * @param limit how many at most, 1 to {@link #BATCH}
   * @return how many there were; below 0 if the device is gone
   */
  public int poll(int limit) {
    try {
      return context.calls().pollCq(context.pollCq(), address, limit, completions);
    } finally {
      Reference.reachabilityFence(arena); // the call knows its address only
    }
  }

  /**
   * Asks for one event on the queue's channel when the next completion comes. One that has come
   * before is not told of, so the queue has to be polled once more after this.
   *
   * @return 0; below 0 if the device is gone
   */
  public int requestNotification() {
    return context.calls().reqNotifyCq(context.reqNotifyCq(), address, 0);
  }

  /**
   * Returns the id of a work request.
   *
   * @param index the completion, from 0
   * @return what the program gave it
   */
  public long workRequestId(int index) {
    return RawMemory.getLong(completions + index * SIZE + ID);
  }

  /**
   * Tells whether a work request is done; if not, only its id, {@link #status}, {@link
   * #queuePairNumber} and {@link #vendorError} are valid.
   *
   * @param index the completion, from 0
   * @return whether it is
   */
  public boolean isSuccess(int index) {
    return RawMemory.getInt(completions + index * SIZE + STATUS) == 0;
  }

  /**
   * Returns how a work request ended.
   *
   * @param index the completion, from 0
   * @return the status
   */
  public CompletionStatus status(int index) {
    return CompletionStatus.of(RawMemory.getInt(completions + index * SIZE + STATUS));
  }

  /**
   * Returns the maker's own code of an error.
   *
   * @param index the completion, from 0
   * @return the code
   */
  public int vendorError(int index) {
    return RawMemory.getInt(completions + index * SIZE + VENDOR_ERROR);
  }

  /**
   * Tells whether a work request was a receive.
   *
   * @param index the completion, from 0
   * @return whether it was
   */
  public boolean isReceive(int index) {
    return (RawMemory.getInt(completions + index * SIZE + OPCODE) & OPCODE_RECEIVE) != 0;
  }

  /**
   * Tells whether a receive was taken up by an RDMA WRITE with immediate data, which has put its
   * bytes elsewhere.
   *
   * @param index the completion, from 0; of a receive
   * @return whether it was; if not, by a SEND
   */
  public boolean isWriteWithImmediate(int index) {
    return RawMemory.getInt(completions + index * SIZE + OPCODE) == OPCODE_RECEIVE_OF_WRITE;
  }

  /**
   * Returns how long a received message is.
   *
   * @param index the completion, from 0
   * @return the length in bytes
   */
  public int length(int index) {
    return RawMemory.getInt(completions + index * SIZE + LENGTH);
  }

  /**
   * Tells whether a received message came with immediate data.
   *
   * @param index the completion, from 0
   * @return whether it did
   */
  public boolean hasImmediate(int index) {
    return (RawMemory.getInt(completions + index * SIZE + FLAGS) & FLAG_WITH_IMMEDIATE) != 0;
  }

  /**
   * Returns the immediate data of a received message.
   *
   * @param index the completion, from 0
   * @return the data, in the order of the machine
   */
  public int immediate(int index) {
    return Integer.reverseBytes(RawMemory.getInt(completions + index * SIZE + IMMEDIATE));
  }

  /**
   * Returns the number of the queue pair concerned.
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
