// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The message is longer than the peer of this connection takes; nothing was sent and the connection
 * is unharmed.
 */
public final class MessageTooLongException extends FerruleException {
  private static final long serialVersionUID = 1L;

  private final long length;
  private final int maxMessageSize;

  /**
   * Creates an exception.
   *
   * @param uri the connection concerned
   * @param length the message's length in bytes
   * @param maxMessageSize the longest message that the peer takes, in bytes
   */
  public MessageTooLongException(@Nullable URI uri, long length, int maxMessageSize) {
    super(
        uri,
        "a message of "
            + length
            + " bytes is longer than the "
            + maxMessageSize
            + " bytes the peer takes; send it in parts, or raise "
            + StandardOptions.MAX_MESSAGE.name()
            + " on the receiving side",
        null);
    this.length = length;
    this.maxMessageSize = maxMessageSize;
  }

  /**
   * Returns the message's length.
   *
   * @return the length in bytes
   */
  public long length() {
    return length;
  }

  /**
   * Returns the longest message that the peer takes.
   *
   * @return the limit in bytes
   */
  public int maxMessageSize() {
    return maxMessageSize;
  }
}
