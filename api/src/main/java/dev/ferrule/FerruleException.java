// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import dev.ferrule.spi.PlainText;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The superclass of all exceptions for conditions that a correct program may encounter at run time:
 * a peer that dies, a timeout, a full file system, an address without a listener. Programming
 * errors (freeing a region twice, a negative length) are reported by {@link IllegalStateException}
 * and {@link IllegalArgumentException} instead.
 *
 * <p>The message contains the URI of the connection or listener, if it has one, and a remedy, if
 * there is one. It is a single line without control characters: those in text from a peer or in a
 * path are escaped.
 */
public class FerruleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient @Nullable URI uri;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what failed, why, and how to fix it
   * @param cause the underlying failure, or null
   */
  public FerruleException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(PlainText.of(uri == null ? message : uri + ": " + message), cause);
    this.uri = uri;
  }

  /**
   * {@return the URI of the connection or listener concerned, or null if the failure occurred
   * before it was known}
   */
  public final @Nullable URI uri() {
    return uri;
  }
}
