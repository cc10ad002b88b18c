// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the peer died (its process ended without closing the connection) or has not responded
 * for {@link StandardOptions#PEER_TIMEOUT}. This process itself gets it if it was stopped for so
 * long that the peer has given it up, and if its own RDMA device fails, is removed or loses its
 * address. The text names the cause.
 */
public final class PeerLostException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public PeerLostException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
