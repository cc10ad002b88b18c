// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by {@code listen} if another live listener owns the address. In {@code sm} an address
 * without {@code /PID/ID} is a directory, in which any number of listeners may be.
 */
public final class AddressInUseException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public AddressInUseException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
