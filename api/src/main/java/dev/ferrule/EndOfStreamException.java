// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by the methods of a {@link Receiver} that receive, if every message of the peer was
 * received and no further one follows: the peer has closed all its senders, or the connection. In
 * the first case the connection is {@link ConnectionState#OPEN}, and this side can still send.
 */
public final class EndOfStreamException extends FerruleException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param uri the connection concerned
   * @param message what happened
   * @param cause the underlying failure, or null
   */
  public EndOfStreamException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(uri, message, cause);
  }
}
