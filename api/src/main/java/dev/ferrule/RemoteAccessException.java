// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the peer's memory cannot be accessed: the handle does not belong to this connection,
 * the memory is no longer exposed, or this kind of access is not permitted. {@link Rma} states
 * which call throws it. The connection remains usable.
 */
public final class RemoteAccessException extends FerruleException {
  private static final long serialVersionUID = 1L;

  private final long operation;

  /**
   * Creates an exception.
   *
   * @param uri the connection concerned
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public RemoteAccessException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    this(uri, message, cause, 0);
  }

  /**
   * Creates an exception for an operation that has started.
   *
   * @param uri the connection concerned
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   * @param operation the operation's id
   */
  public RemoteAccessException(
      @Nullable URI uri, String message, @Nullable Throwable cause, long operation) {
    super(uri, message, cause);
    this.operation = operation;
  }

  /**
   * {@return the id of the operation that failed after its start; 0 if the call has failed before
   * it started any}
   */
  public long operation() {
    return operation;
  }
}
