// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.net.URI;

/**
 * What is known of an endpoint that lies in the file system.
 *
 * @param address its address
 * @param state whether somebody uses it
 * @param description what it is, in a few words of its owner's, which may be another user: control
 *     characters are escaped; may be empty
 * @param connections how many connections it has
 * @param bytes how much memory it has allocated for them, as far as it says
 */
public record EndpointInfo(
    URI address, State state, String description, int connections, long bytes) {

  /** Escapes the description. */
  public EndpointInfo {
    description = PlainText.of(description);
  }

  /** Whether somebody uses an endpoint. */
  public enum State {
    /** A process that lives owns it. */
    LIVE,

    /** Its owner has died, so that it may be removed. */
    STALE,

    /** It is another user's, who keeps it from being looked at. */
    UNKNOWN
  }
}
