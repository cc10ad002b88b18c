// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * A timeout that the caller or an option set ran out before the operation could finish. The
 * connection itself is unharmed.
 */
public final class OperationTimeoutException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what happened and what to do about it
   * @param cause the underlying failure, or null
   */
  public OperationTimeoutException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
