// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * The state of a {@link Connection}. A connection starts {@link #OPEN} and ends in exactly one of
 * the other states.
 */
public enum ConnectionState {
  /** Messages can be sent and received. */
  OPEN,

  /**
   * The peer closed the connection. Messages that it sent before can still be received; none can be
   * sent. This side must still close it.
   */
  CLOSED_BY_PEER,

  /** This side closed the connection. */
  CLOSED,

  /**
   * The connection failed: the peer died or violated the protocol, or the device failed. {@link
   * Connection#failure()} returns the cause. This side must still close it.
   */
  FAILED
}
