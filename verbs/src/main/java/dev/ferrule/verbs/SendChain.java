// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_send_wr;
import dev.ferrule.bindings.verbs.ibv_sge;
import dev.ferrule.verbs.calls.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

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
public final class SendChain {

  /** Wait for earlier RDMA READs first. */
  public static final int FENCE = 1;

  /** The request makes a completion. */
  public static final int SIGNALED = 2;

  /** The peer's receive makes an event even where it asked for solicited ones only. */
  public static final int SOLICITED = 4;

  /** The device copies the bytes when the request is posted; the queue pair limits how many. */
  public static final int INLINE = 8;

  private static final long REQUEST = ibv_send_wr.sizeof();
  private static final long ID = ibv_send_wr.wr_id$offset();
  private static final long NEXT = ibv_send_wr.next$offset();
  private static final long PIECES = ibv_send_wr.sg_list$offset();
  private static final long PIECE_COUNT = ibv_send_wr.num_sge$offset();
  private static final long OPERATION = ibv_send_wr.opcode$offset();
  private static final long FLAGS = ibv_send_wr.send_flags$offset();
  private static final long IMMEDIATE = ibv_send_wr.imm_data$offset();
  private static final long REMOTE_ADDRESS = ibv_send_wr.wr$offset();
  private static final long REMOTE_KEY = REMOTE_ADDRESS + ibv_send_wr.wr.rdma.rkey$offset();

  private static final long PIECE = ibv_sge.sizeof();
  private static final long PIECE_ADDRESS = ibv_sge.addr$offset();
  private static final long PIECE_LENGTH = ibv_sge.length$offset();
  private static final long PIECE_KEY = ibv_sge.lkey$offset();

  private final Arena arena = Arena.ofAuto();
  private final int capacity;
  private final long requests;
  private final long pieces;
  private final long bad;

  /**
   * Builds a chain.
   *
   * @param capacity how many requests it has, at least 1
   */
  public SendChain(int capacity) {
    this.capacity = capacity;
    MemorySegment memory = arena.allocate(capacity * (REQUEST + PIECE) + Long.BYTES, Long.BYTES);
    requests = memory.address();
    pieces = requests + capacity * REQUEST;
    bad = pieces + capacity * PIECE;
    for (int i = 0; i < capacity; i++) {
      RawMemory.putLong(request(i) + PIECES, piece(i));
      link(i);
    }
  }

  /**
   * Returns how many requests there are.
   *
   * @return the capacity
   */
  public int capacity() {
    return capacity;
  }

  private void link(int index) {
    RawMemory.putLong(request(index) + NEXT, index + 1 < capacity ? request(index + 1) : 0);
  }

  private long request(int index) {
    return requests + index * REQUEST;
  }

  private long piece(int index) {
    return pieces + index * PIECE;
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
    long request = request(index);
    RawMemory.putLong(request + ID, id);
    RawMemory.putInt(request + PIECE_COUNT, length == 0 ? 0 : 1);
    RawMemory.putInt(request + OPERATION, operation.code());
    RawMemory.putInt(request + FLAGS, flags);
    long piece = piece(index);
    RawMemory.putLong(piece + PIECE_ADDRESS, address);
    RawMemory.putInt(piece + PIECE_LENGTH, length);
    RawMemory.putInt(piece + PIECE_KEY, localKey);
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

  /** Ends a run at a request, and returns the address of the run's first. */
  long cut(int first, int count) {
    RawMemory.putLong(request(first + count - 1) + NEXT, 0);
    return request(first);
  }

  /** Undoes {@link #cut}. */
  void join(int first, int count) {
    link(first + count - 1);
  }

  /** Where the device tells which request it did not take. */
  long bad() {
    return bad;
  }

  /**
   * Returns which request was not taken, when posting has failed; those before it were.
   *
   * @return the index
   */
  public int failedIndex() {
    return (int) ((RawMemory.getLong(bad) - requests) / REQUEST);
  }
}
