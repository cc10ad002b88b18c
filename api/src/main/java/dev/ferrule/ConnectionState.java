// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * The life of a {@link Connection}: it starts {@link #OPEN} and ends in exactly one of the other
 * states.
 */
public enum ConnectionState {
  /** Messages can be sent, and received. */
  OPEN,

  /**
   * The peer closed the connection; messages that it sent before can still be received, none can be
   * sent.
   */
  CLOSED_BY_PEER,

  /** This side closed the connection. */
  CLOSED,

  /**
   * The connection failed: the peer died or broke the protocol, or the device did; {@link
   * Connection#failure()} says which.
   */
  FAILED
}
