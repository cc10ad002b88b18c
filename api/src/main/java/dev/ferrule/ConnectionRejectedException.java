// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The listener's program looked at the connection request and rejected it, perhaps with a payload
 * that says why.
 */
public final class ConnectionRejectedException extends FerruleException {
  private static final long serialVersionUID = 1L;

  private final byte[] payload;

  /**
   * Creates an exception.
   *
   * @param uri the address that was to be connected to
   * @param payload what the listener's program gave to {@link ConnectionRequest#reject(byte[])};
   *     may be empty
   */
  public ConnectionRejectedException(@Nullable URI uri, byte[] payload) {
    super(
        uri,
        "the listener rejected the connection"
            + (payload.length == 0 ? "" : " with a payload of " + payload.length + " bytes"),
        null);
    this.payload = payload.clone();
  }

  /**
   * Returns what the listener's program gave to {@link ConnectionRequest#reject(byte[])}.
   *
   * @return a copy of the payload; empty if there was none
   */
  public byte[] payload() {
    return payload.clone();
  }
}
