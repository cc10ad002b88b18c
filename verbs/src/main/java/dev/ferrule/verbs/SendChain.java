// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.libibverbs.ibv_send_wr;

/**
 * Work requests for a send queue, built once and edited in place; see {@link WorkRequestChain}. A
 * run of requests is posted by one call, with one doorbell. Addresses and lengths are not checked.
 *
 * {@snippet lang=java :
 * SendChain chain = new SendChain(1);
 * chain.set(0, SendOperation.SEND, 7, region.segment().address(), 64, region.localKey(), SendChain.SIGNALED);
 * int result = queuePair.post(chain, 0, 1);
 * if (result < 0) {
 *   System.out.println("not posted, errno " + -result); // ENOMEM: the queue is full
 * }
 * }
 *
 * <p><b>Threads:</b> one thread at a time uses it.
 */
public final class SendChain extends WorkRequestChain {

  /** The request waits for earlier RDMA READs and atomic operations. */
  public static final int FENCE = 1;

  /** The request generates a completion when it succeeds. A failed request always does. */
  public static final int SIGNALED = 2;

  /** The peer's receive causes an event even if only solicited events are requested. */
  public static final int SOLICITED = 4;

  /** Posting copies the bytes into the request, up to {@link QueuePairSizes#inline()}. */
  public static final int INLINE = 8;

  /** The maximum number of scatter/gather elements of a request. */
  public static final int PIECES = 2;

  private static final long OPERATION = ibv_send_wr.opcode$offset();
  private static final long FLAGS = ibv_send_wr.send_flags$offset();
  private static final long IMMEDIATE = ibv_send_wr.imm_data$offset();
  private static final long REMOTE_ADDRESS = ibv_send_wr.wr$offset();
  private static final long REMOTE_KEY = REMOTE_ADDRESS + ibv_send_wr.wr.rdma.rkey$offset();
  private static final long OPERAND = REMOTE_ADDRESS + ibv_send_wr.wr.atomic.compare_add$offset();
  private static final long SWAP = REMOTE_ADDRESS + ibv_send_wr.wr.atomic.swap$offset();
  private static final long ATOMIC_KEY = REMOTE_ADDRESS + ibv_send_wr.wr.atomic.rkey$offset();

  /**
   * Creates a chain.
   *
   * @param capacity the number of requests, at least 1
   */
  public SendChain(int capacity) {
    super(capacity, ibv_send_wr.sizeof(), PIECES);
  }

  /**
   * Edits a request.
   *
   * @param index the request's index, from 0
   * @param operation the operation
   * @param id the work request id, which its completion carries
   * @param address the address of the local memory
   * @param length the length in bytes; may be 0
   * @param localKey the memory's local key; ignored for an inline request
   * @param flags constants of this class, combined by OR
   */
  public void set(
      int index,
      SendOperation operation,
      long id,
      long address,
      int length,
      int localKey,
      int flags) {
    fill(index, id, address, length, localKey);
    long request = request(index);
    RawMemory.putInt(request + OPERATION, operation.code());
    RawMemory.putInt(request + FLAGS, flags);
  }

  /**
   * Adds a second part of local memory to a request: its bytes follow those of the first part,
   * which is not empty.
   *
   * @param index the request's index, from 0
   * @param address the address of the local memory
   * @param length the length in bytes, at least 1
   * @param localKey the memory's local key
   */
  public void setSecond(int index, long address, int length, int localKey) {
    fillSecond(index, address, length, localKey);
  }

  /**
   * Sets a request's id, and adds flags.
   *
   * @param index the request's index, from 0
   * @param id the work request id
   * @param flags constants of this class, combined by OR; 0 for none
   */
  public void setId(int index, long id, int flags) {
    fillId(index, id);
    if (flags != 0) {
      long address = request(index) + FLAGS;
      RawMemory.putInt(address, RawMemory.getInt(address) | flags);
    }
  }

  /**
   * Sets a request's immediate data.
   *
   * @param index the request's index, from 0
   * @param data the data, in host byte order
   */
  public void setImmediate(int index, int data) {
    RawMemory.putInt(request(index) + IMMEDIATE, Integer.reverseBytes(data));
  }

  /**
   * Sets the remote memory of an RDMA request.
   *
   * @param index the request's index, from 0
   * @param address the remote address
   * @param remoteKey the remote key
   */
  public void setRemote(int index, long address, int remoteKey) {
    RawMemory.putLong(request(index) + REMOTE_ADDRESS, address);
    RawMemory.putInt(request(index) + REMOTE_KEY, remoteKey);
  }

  /**
   * Sets the remote memory and the operands of an atomic request, instead of {@link #setRemote}.
   *
   * @param index the request's index, from 0
   * @param address the remote address, a multiple of 8
   * @param remoteKey the remote key
   * @param operand the number to add, or the value to compare with
   * @param swap the value to set; ignored by {@link SendOperation#FETCH_AND_ADD}
   */
  public void setAtomic(int index, long address, int remoteKey, long operand, long swap) {
    long request = request(index);
    RawMemory.putLong(request + REMOTE_ADDRESS, address);
    RawMemory.putLong(request + OPERAND, operand);
    RawMemory.putLong(request + SWAP, swap);
    RawMemory.putInt(request + ATOMIC_KEY, remoteKey);
  }
}
