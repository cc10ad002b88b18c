// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_send_wr;
import dev.ferrule.verbs.calls.RawMemory;

/**
 * Work requests for a send queue, built once and edited in place: each has one piece of memory, and
 * is linked to the next, so that any run of them is posted by one call and rings one doorbell.
 * Nothing here is checked, so addresses and lengths have to be right.
 *
 * {@snippet lang=java :
 * SendChain chain = new SendChain(1);
 * chain.set(0, SendOperation.SEND, 7, region.segment().address(), 64, region.localKey(), SendChain.SIGNALED);
 * if (queuePair.post(chain, 0, 1) < 0) {
 *   System.out.println("the queue is full, or in error");
 * }
 * }
 *
 * <p><b>Threads:</b> for one thread at a time. The device has copied the requests when posting
 * returns, so they may be edited anew.
 */
public final class SendChain extends WorkRequestChain {

  /** Wait for earlier RDMA READs first. */
  public static final int FENCE = 1;

  /** The request makes a completion. */
  public static final int SIGNALED = 2;

  /** The peer's receive makes an event even where it asked for solicited ones only. */
  public static final int SOLICITED = 4;

  /** The device copies the bytes when the request is posted; the queue pair limits how many. */
  public static final int INLINE = 8;

  private static final long OPERATION = ibv_send_wr.opcode$offset();
  private static final long FLAGS = ibv_send_wr.send_flags$offset();
  private static final long IMMEDIATE = ibv_send_wr.imm_data$offset();
  private static final long REMOTE_ADDRESS = ibv_send_wr.wr$offset();
  private static final long REMOTE_KEY = REMOTE_ADDRESS + ibv_send_wr.wr.rdma.rkey$offset();

  /**
   * Builds a chain.
   *
   * @param capacity how many requests it has, at least 1
   */
  public SendChain(int capacity) {
    super(capacity, ibv_send_wr.sizeof());
  }

  /**
   * Edits a request.
   *
   * @param index which, from 0
   * @param operation what it does
   * @param id what its completion is to carry
   * @param address where this side's memory starts
   * @param length how many bytes; may be 0
   * @param localKey the memory's key; without meaning for an inline request
   * @param flags the sum of constants of this class
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
   * Sets a request's immediate data.
   *
   * @param index which, from 0
   * @param data the data, in the order of the machine
   */
  public void setImmediate(int index, int data) {
    RawMemory.putInt(request(index) + IMMEDIATE, Integer.reverseBytes(data));
  }

  /**
   * Sets which memory of the peer an RDMA request is for.
   *
   * @param index which, from 0
   * @param address where it starts there
   * @param remoteKey its key there
   */
  public void setRemote(int index, long address, int remoteKey) {
    RawMemory.putLong(request(index) + REMOTE_ADDRESS, address);
    RawMemory.putInt(request(index) + REMOTE_KEY, remoteKey);
  }
}
