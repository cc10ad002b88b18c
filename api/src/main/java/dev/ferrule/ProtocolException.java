// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The peer broke the protocol: a length, an index or a message type that cannot be. The connection
 * is closed and nothing of what was wrong has been used.
 */
public final class ProtocolException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what happened and what to do about it
   * @param cause the underlying failure, or null
   */
  public ProtocolException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
