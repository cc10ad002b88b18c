// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by {@code connect} if the listener rejected the connection request, possibly with a
 * payload that contains the reason.
 */
public final class ConnectionRejectedException extends FerruleException {
  private static final long serialVersionUID = 1L;

  private final byte[] payload;

  /**
   * Creates an exception.
   *
   * @param uri the address of the listener
   * @param payload the payload given to {@link ConnectionRequest#reject(byte[])}; may be empty
   */
  public ConnectionRejectedException(@Nullable URI uri, byte[] payload) {
    super(
        uri,
        "the listener rejected the connection"
            + (payload.length == 0 ? "" : " with payload() of " + payload.length + " bytes"),
        null);
    this.payload = payload.clone();
  }

  /**
   * {@return a copy of the payload given to {@link ConnectionRequest#reject(byte[])}; empty if
   * there was none}
   */
  public byte[] payload() {
    return payload.clone();
  }
}
