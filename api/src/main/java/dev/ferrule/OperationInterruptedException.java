// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The calling thread was interrupted while it was blocked. Its interrupt flag is set again, and the
 * connection itself is unharmed.
 */
public final class OperationInterruptedException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what happened and what to do about it
   * @param cause the underlying failure, or null
   */
  public OperationInterruptedException(
      @Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
