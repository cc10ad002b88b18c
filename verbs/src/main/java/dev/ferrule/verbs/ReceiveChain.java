// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_recv_wr;
import dev.ferrule.bindings.verbs.ibv_sge;
import dev.ferrule.verbs.calls.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Work requests for a receive queue, built once and edited in place; see {@link SendChain}.
 *
 * {@snippet lang=java :
 * ReceiveChain chain = new ReceiveChain(1);
 * chain.set(0, 7, region.segment().address(), 4096, region.localKey());
 * if (queuePair.post(chain, 0, 1) < 0) {
 *   System.out.println("the queue is full, or in error");
 * }
 * }
 *
 * <p><b>Threads:</b> for one thread at a time.
 */
public final class ReceiveChain {

  private static final long REQUEST = ibv_recv_wr.sizeof();
  private static final long ID = ibv_recv_wr.wr_id$offset();
  private static final long NEXT = ibv_recv_wr.next$offset();
  private static final long PIECES = ibv_recv_wr.sg_list$offset();
  private static final long PIECE_COUNT = ibv_recv_wr.num_sge$offset();

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
  public ReceiveChain(int capacity) {
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
   * @param id what its completion is to carry
   * @param address where the memory starts
   * @param length how many bytes it has; 0 takes messages without bytes only
   * @param localKey the memory's key
   */
  public void set(int index, long id, long address, int length, int localKey) {
    long request = request(index);
    RawMemory.putLong(request + ID, id);
    RawMemory.putInt(request + PIECE_COUNT, length == 0 ? 0 : 1);
    long piece = piece(index);
    RawMemory.putLong(piece + PIECE_ADDRESS, address);
    RawMemory.putInt(piece + PIECE_LENGTH, length);
    RawMemory.putInt(piece + PIECE_KEY, localKey);
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
