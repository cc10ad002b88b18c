// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a message is longer than the peer's limit. Nothing was sent and the connection remains
 * usable.
 */
public final class MessageTooLongException extends FerruleException {
  private static final long serialVersionUID = 1L;

  private final long length;
  private final int maxMessage;

  /**
   * Creates an exception.
   *
   * @param uri the connection concerned
   * @param length the message's length in bytes
   * @param maxMessage the limit in bytes
   */
  public MessageTooLongException(@Nullable URI uri, long length, int maxMessage) {
    super(
        uri,
        ("message too long: %d bytes exceed the limit of %d bytes; send it in parts, or raise "
                + "maxMessage on the receiving side, and buffer on this one if it is smaller")
            .formatted(length, maxMessage),
        null);
    this.length = length;
    this.maxMessage = maxMessage;
  }

  /** {@return the message's length in bytes} */
  public long length() {
    return length;
  }

  /** {@return the maximum length of a message to this peer, in bytes} */
  public int maxMessage() {
    return maxMessage;
  }
}
