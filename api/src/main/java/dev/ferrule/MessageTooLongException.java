// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a message is longer than the peer's limit, or a payload of the handshake longer than
 * that of the transport. Nothing was sent, and the connection or request remains usable.
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
    this(
        uri,
        length,
        maxMessage,
        ("message too long: %d bytes exceed the limit of %d bytes; send it in parts, or raise "
                + "maxMessage on the receiving side, and over RDMA sendBuffer on this one")
            .formatted(length, maxMessage));
  }

  /**
   * Creates an exception with another text, such as for a payload of the handshake.
   *
   * @param uri the connection, listener or address concerned
   * @param length the length in bytes
   * @param maxMessage the limit in bytes
   * @param message what failed, why, and how to fix it
   */
  public MessageTooLongException(@Nullable URI uri, long length, int maxMessage, String message) {
    super(uri, message, null);
    this.length = length;
    this.maxMessage = maxMessage;
  }

  /** {@return the message's length in bytes} */
  public long length() {
    return length;
  }

  /** {@return the maximum length here, in bytes} */
  public int maxMessage() {
    return maxMessage;
  }
}
