// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The peer's memory cannot be accessed: the handle is none of this connection, the memory is no
 * longer exposed, or it is not for that kind of access. The connection lives on, if its transport
 * allows for it.
 */
public final class RemoteAccessException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection concerned
   * @param message what happened and what to do about it
   * @param cause the underlying failure, or null
   */
  public RemoteAccessException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
