// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the peer's memory cannot be accessed: the handle does not belong to this connection,
 * the memory is no longer exposed, or this kind of access is not permitted. The connection remains
 * usable.
 */
public final class RemoteAccessException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection concerned
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public RemoteAccessException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
