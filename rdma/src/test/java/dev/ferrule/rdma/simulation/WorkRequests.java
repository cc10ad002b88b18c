// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.libibverbs.ibv_recv_wr;
import dev.ferrule.verbs.libibverbs.ibv_send_wr;
import dev.ferrule.verbs.libibverbs.ibv_sge;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** Copies work requests, because the program may edit them as soon as posting returns. */
final class WorkRequests {

  static final int RDMA_WRITE = 0;
  static final int RDMA_WRITE_WITH_IMMEDIATE = 1;
  static final int SEND = 2;
  static final int SEND_WITH_IMMEDIATE = 3;
  static final int RDMA_READ = 4;
  static final int COMPARE_AND_SWAP = 5;
  static final int FETCH_AND_ADD = 6;

  /** A scatter/gather element. */
  record Piece(long address, int length, int key) {}

  /** A request of a receive queue. */
  record Receive(long id, List<Piece> pieces) {}

  /**
   * A request of a send queue.
   *
   * @param sequence the number of earlier requests of the queue
   * @param inline the data of an inline request, copied when it is posted; otherwise empty
   * @param immediate in network byte order, as in C
   */
  record Send(
      long sequence,
      long id,
      int opcode,
      int flags,
      List<Piece> pieces,
      byte[] inline,
      int immediate,
      long remoteAddress,
      int remoteKey,
      long operand,
      long swap) {

    boolean has(int flag) {
      return (flags & flag) != 0;
    }

    boolean isAtomic() {
      return opcode == COMPARE_AND_SWAP || opcode == FETCH_AND_ADD;
    }

    /** Returns whether the response has data, as of an RDMA READ or an atomic operation. */
    boolean reads() {
      return opcode == RDMA_READ || isAtomic();
    }

    boolean needsReceive() {
      return opcode == SEND || opcode == SEND_WITH_IMMEDIATE || writesWithImmediate();
    }

    boolean writesWithImmediate() {
      return opcode == RDMA_WRITE_WITH_IMMEDIATE;
    }

    boolean hasImmediate() {
      return opcode == SEND_WITH_IMMEDIATE || writesWithImmediate();
    }

    int length() {
      return WorkRequests.length(pieces);
    }
  }

  private static final int INLINE = 8;
  private static final long WR = ibv_send_wr.wr$offset();

  private WorkRequests() {}

  static int length(List<Piece> pieces) {
    return pieces.stream().mapToInt(Piece::length).sum();
  }

  static Receive receive(long address) {
    return new Receive(
        RawMemory.getLong(address + ibv_recv_wr.wr_id$offset()),
        pieces(
            RawMemory.getLong(address + ibv_recv_wr.sg_list$offset()),
            RawMemory.getInt(address + ibv_recv_wr.num_sge$offset())));
  }

  static Send send(long address, long sequence) {
    int opcode = RawMemory.getInt(address + ibv_send_wr.opcode$offset());
    int flags = RawMemory.getInt(address + ibv_send_wr.send_flags$offset());
    boolean atomic = opcode == COMPARE_AND_SWAP || opcode == FETCH_AND_ADD;
    List<Piece> pieces =
        pieces(
            RawMemory.getLong(address + ibv_send_wr.sg_list$offset()),
            RawMemory.getInt(address + ibv_send_wr.num_sge$offset()));
    return new Send(
        sequence,
        RawMemory.getLong(address + ibv_send_wr.wr_id$offset()),
        opcode,
        flags,
        pieces,
        (flags & INLINE) == 0 ? new byte[0] : bytes(pieces),
        RawMemory.getInt(address + ibv_send_wr.imm_data$offset()),
        RawMemory.getLong(address + WR),
        RawMemory.getInt(
            address
                + WR
                + (atomic
                    ? ibv_send_wr.wr.atomic.rkey$offset()
                    : ibv_send_wr.wr.rdma.rkey$offset())),
        RawMemory.getLong(address + WR + ibv_send_wr.wr.atomic.compare_add$offset()),
        RawMemory.getLong(address + WR + ibv_send_wr.wr.atomic.swap$offset()));
  }

  private static List<Piece> pieces(long list, int count) {
    List<Piece> pieces = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long at = list + i * ibv_sge.sizeof();
      pieces.add(
          new Piece(
              RawMemory.getLong(at + ibv_sge.addr$offset()),
              RawMemory.getInt(at + ibv_sge.length$offset()),
              RawMemory.getInt(at + ibv_sge.lkey$offset())));
    }
    return pieces;
  }

  private static byte[] bytes(List<Piece> pieces) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    pieces.forEach(piece -> all.writeBytes(RawMemory.bytes(piece.address(), piece.length())));
    return all.toByteArray();
  }
}
