// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import dev.ferrule.spi.PlainText;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The root of every exception that Ferrule throws for something a correct program can meet at run
 * time: a peer that dies, a timeout, a full file system, an address nobody listens on. Mistakes of
 * the calling program (freeing a region twice, a negative length) are the JDK's own {@link
 * IllegalStateException} and {@link IllegalArgumentException} instead.
 *
 * <p>The message always names the connection's or listener's URI and, where there is one, the fix.
 * It is one line without control characters: those of a peer's text or of a path are escaped.
 */
public class FerruleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient @Nullable URI uri;

  /**
   * Creates an exception.
   *
   * @param uri the connection or listener concerned, or null if there is none yet
   * @param message what happened and what to do about it
   * @param cause the underlying failure, or null
   */
  public FerruleException(@Nullable URI uri, String message, @Nullable Throwable cause) {
    super(PlainText.of(uri == null ? message : uri + ": " + message), cause);
    this.uri = uri;
  }

  /**
   * Returns the URI of the connection or listener concerned.
   *
   * @return the URI, or null if the failure came before one was known
   */
  public final @Nullable URI uri() {
    return uri;
  }
}
