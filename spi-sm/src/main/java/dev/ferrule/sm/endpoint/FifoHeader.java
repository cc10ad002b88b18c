// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

/**
 * The 4-byte header that goes over an endpoint's FIFO. From the least significant bit: 4 bits type,
 * 28 bits the number of the connection at the endpoint that reads.
 */
final class FifoHeader {

  /** "Do you live?" */
  static final int KEEPALIVE = 1;

  /** "You sleep, and there is something for you": a message, or room for one. */
  static final int WAKEUP = 2;

  /** "I have closed the connection." */
  static final int CLOSED = 3;

  /** "I live." */
  static final int KEEPALIVE_REPLY = 4;

  /** "Fragments of remote memory access wait for you." */
  static final int RMA = 5;

  /** "You sleep, and a fragment of yours is done." */
  static final int RMA_ACK = 6;

  /** One more than the greatest type. */
  static final int TYPES = RMA_ACK + 1;

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
