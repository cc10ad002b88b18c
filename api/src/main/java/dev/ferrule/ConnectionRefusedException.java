// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by {@code connect} if there is no listener at the address, as the endpoint does not exist
 * or the process that owned it has died; if several listeners are in one directory of {@code sm};
 * or, over RDMA, if the host cannot be reached. Listeners come and go, so a later attempt may
 * succeed.
 */
public final class ConnectionRefusedException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public ConnectionRefusedException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
