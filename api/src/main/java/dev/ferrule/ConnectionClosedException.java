// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The connection or listener is closed: by this side, or by the peer in the orderly way. A peer's
 * orderly close is only reported by a {@link Receiver} after every message that the peer had sent
 * was received, so it doubles as the end of the stream.
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

  /**
   * Tells who closed the connection.
   *
   * @return true if the peer did, false if this side did
   */
  public boolean closedByPeer() {
    return closedByPeer;
  }
}
