// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if an option is unknown to the provider, or its value is malformed or out of range. The
 * text lists the valid names or values.
 */
public final class InvalidOptionException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public InvalidOptionException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
