// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if an operation does not complete within the timeout given by the caller or by an option.
 * The connection remains usable. Nothing was sent, received or accepted. What an {@code await} has
 * waited for continues. A read or write of {@link Rma} may have copied some of its bytes.
 */
public final class OperationTimeoutException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public OperationTimeoutException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
