// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

/**
 * The 4-byte header that is written to an endpoint's FIFO. From the least significant bit: 4 bits
 * type, 28 bits the number of the connection at the reading endpoint.
 */
final class FifoHeader {

  /** Asks whether the peer is alive. */
  static final int KEEPALIVE = 1;

  /** Wakes a sleeping peer: there is a message, or room for one. */
  static final int WAKEUP = 2;

  /** Announces that the sender has closed the connection. */
  static final int CLOSED = 3;

  /** Answers {@link #KEEPALIVE}. */
  static final int KEEPALIVE_REPLY = 4;

  /** Announces fragments of remote memory access that the peer must handle. */
  static final int RMA = 5;

  /** Wakes a sleeping peer: a fragment of its own is complete. */
  static final int RMA_ACK = 6;

  /**
   * Asks the endpoint, by the number 0, to write its {@link CountersFile}. Sent by tools, not by a
   * peer.
   */
  static final int COUNTERS = 7;

  /** One more than the greatest type. */
  static final int TYPES = COUNTERS + 1;

  private static final int ID_SHIFT = 4;

  private FifoHeader() {}

  static int of(int type, int connection) {
    return type | connection << ID_SHIFT;
  }

  static int type(int header) {
    return header & 0xf;
  }

  static int connection(int header) {
    return header >>> ID_SHIFT;
  }
}
