// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/** The operation of a work request of a send queue. */
public enum SendOperation {
  /** Writes to the peer's memory, and consumes a receive of the peer to deliver immediate data. */
  RDMA_WRITE_WITH_IMMEDIATE(1),
  /** Writes to the peer's memory. */
  RDMA_WRITE(0),
  /** Sends a message. */
  SEND(2),
  /** Sends a message with immediate data. */
  SEND_WITH_IMMEDIATE(3),
  /** Reads from the peer's memory. */
  RDMA_READ(4),
  /**
   * Compares a word of the peer's memory with a value, replaces the word if both are equal, and
   * fetches its previous value.
   */
  COMPARE_AND_SWAP(5),
  /** Adds to a word of the peer's memory, and fetches its previous value. */
  FETCH_AND_ADD(6);

  private final int code;

  SendOperation(int code) {
    this.code = code;
  }

  /** Returns the number in {@code enum ibv_wr_opcode}. */
  int code() {
    return code;
  }
}
