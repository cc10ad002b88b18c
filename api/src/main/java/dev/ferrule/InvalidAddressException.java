// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the provider cannot use the URI: the path is malformed, a part is missing, or a socket
 * path is too long.
 */
public final class InvalidAddressException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public InvalidAddressException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
