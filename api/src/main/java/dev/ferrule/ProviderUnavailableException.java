// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if no provider supports the URI's scheme, or if the provider does not work on this
 * machine. The text contains the reason and a remedy (see {@link Availability}).
 */
public final class ProviderUnavailableException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public ProviderUnavailableException(
      @Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
