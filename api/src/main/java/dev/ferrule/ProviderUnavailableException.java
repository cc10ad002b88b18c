// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * No provider serves the URI's scheme, or the one that does cannot work on this machine; the
 * message says why and what to do (see {@link Availability}).
 */
public final class ProviderUnavailableException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what happened and what to do about it
   * @param cause the underlying failure, or null
   */
  public ProviderUnavailableException(
      @Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
