// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the connection or listener is closed: by this side, or by the peer in an orderly close.
 * A {@link Receiver} never throws it for a close by the peer, but {@link EndOfStreamException},
 * after every message that the peer sent was received.
 */
public final class ConnectionClosedException extends FerruleException {
  private static final long serialVersionUID = 1L;

  private final boolean closedByPeer;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned
   * @param closedByPeer whether the peer closed it, rather than this side
   * @param message what happened
   * @param cause the underlying failure, or null
   */
  public ConnectionClosedException(
      @Nullable URI uri, boolean closedByPeer, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
    this.closedByPeer = closedByPeer;
  }

  /** {@return whether the peer closed the connection, not this side} */
  public boolean closedByPeer() {
    return closedByPeer;
  }
}
