// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.libibverbs.ibv_recv_wr;
import dev.ferrule.verbs.libibverbs.ibv_sge;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * Work requests in native memory, built once and edited in place. Each has one scatter/gather
 * element, or up to two in a {@link SendChain}, and is linked to the next, so one call posts any
 * run of them. This class has the fields with which both {@code ibv_send_wr} and {@code
 * ibv_recv_wr} begin.
 *
 * <p><b>Threads:</b> one thread at a time uses it. Posting copies the requests, so they may be
 * edited as soon as it returns.
 */
public abstract sealed class WorkRequestChain permits SendChain, ReceiveChain {

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
  private final long size;
  private final int piecesEach;
  private final long requests;
  private final long pieces;
  private final long bad;

  WorkRequestChain(int capacity, long size, int piecesEach) {
    this.capacity = capacity;
    this.size = size;
    this.piecesEach = piecesEach;
    MemorySegment memory =
        arena.allocate(capacity * (size + piecesEach * PIECE) + Long.BYTES, Long.BYTES);
    requests = memory.address();
    pieces = requests + capacity * size;
    bad = pieces + (long) capacity * piecesEach * PIECE;
    for (int i = 0; i < capacity; i++) {
      RawMemory.putLong(request(i) + PIECES, piece(i));
      link(i);
    }
  }

  /** {@return the number of requests} */
  public final int capacity() {
    return capacity;
  }

  private void link(int index) {
    RawMemory.putLong(request(index) + NEXT, index + 1 < capacity ? request(index + 1) : 0);
  }

  /** Returns the address of a request. */
  final long request(int index) {
    return requests + index * size;
  }

  private long piece(int index) {
    return pieces + (long) index * piecesEach * PIECE;
  }

  /** Sets the fields that all requests have. */
  final void fill(int index, long id, long address, int length, int localKey) {
    long request = request(index);
    RawMemory.putLong(request + ID, id);
    RawMemory.putInt(request + PIECE_COUNT, length == 0 ? 0 : 1);
    fillPiece(piece(index), address, length, localKey);
  }

  /** Adds memory to a request that has some. */
  final void fillSecond(int index, long address, int length, int localKey) {
    RawMemory.putInt(request(index) + PIECE_COUNT, 2);
    fillPiece(piece(index) + PIECE, address, length, localKey);
  }

  private static void fillPiece(long piece, long address, int length, int localKey) {
    RawMemory.putLong(piece + PIECE_ADDRESS, address);
    RawMemory.putInt(piece + PIECE_LENGTH, length);
    RawMemory.putInt(piece + PIECE_KEY, localKey);
  }

  final void fillId(int index, long id) {
    RawMemory.putLong(request(index) + ID, id);
  }

  /** Ends a run at its last request, and returns the address of its first one. */
  final long cut(int first, int count) {
    RawMemory.putLong(request(first + count - 1) + NEXT, 0);
    RawMemory.putLong(bad, request(first)); // some drivers do not write it
    return request(first);
  }

  /** Undoes {@link #cut}. */
  final void join(int first, int count) {
    link(first + count - 1);
    Reference.reachabilityFence(arena); // the call in between has only its address
  }

  /** Returns the address of the pointer to the request that failed. */
  final long bad() {
    return bad;
  }

  /** {@return the request that failed to be posted; the requests before it were posted} */
  public final int failedIndex() {
    return (int) ((RawMemory.getLong(bad) - requests) / size);
  }
}
