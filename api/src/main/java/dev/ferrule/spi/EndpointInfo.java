// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.net.URI;

/**
 * Describes an endpoint in the file system.
 *
 * @param address the endpoint's address
 * @param state whether the endpoint is in use
 * @param description a short description, written by the owner, which may be another user: control
 *     characters are escaped; may be empty
 * @param connections the number of connections of the endpoint
 * @param bytes the memory allocated for the connections, as reported by the owner
 */
public record EndpointInfo(
    URI address, State state, String description, int connections, long bytes) {

  /** Escapes the description. */
  public EndpointInfo {
    description = PlainText.of(description);
  }

  /** Whether an endpoint is in use. */
  public enum State {
    /** A live process owns the endpoint. */
    LIVE,

    /** The owner has died; the endpoint may be removed. */
    STALE,

    /** Another user owns the endpoint and denies access to it. */
    UNKNOWN
  }
}
