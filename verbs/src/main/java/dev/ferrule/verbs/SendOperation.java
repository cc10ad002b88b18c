// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/** What a work request of a send queue does. */
public enum SendOperation {
  /** Writes into the peer's memory, and tells the peer by immediate data. */
  RDMA_WRITE_WITH_IMMEDIATE(1),
  /** Writes into the peer's memory. */
  RDMA_WRITE(0),
  /** Sends a message. */
  SEND(2),
  /** Sends a message with immediate data. */
  SEND_WITH_IMMEDIATE(3),
  /** Reads from the peer's memory. */
  RDMA_READ(4);

  private final int code;

  SendOperation(int code) {
    this.code = code;
  }

  /** The number of {@code enum ibv_wr_opcode}. */
  int code() {
    return code;
  }
}
