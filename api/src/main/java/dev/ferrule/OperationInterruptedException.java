// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the calling thread is interrupted while it is blocked. The thread's interrupt status is
 * set again, and the connection remains usable.
 */
public final class OperationInterruptedException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public OperationInterruptedException(
      @Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
