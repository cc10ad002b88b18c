// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.SendRegion;

/**
 * A region that is claimed, sent or aborted, and claimed again, for providers: one object for many
 * messages.
 */
public abstract class AbstractSendRegion extends LentRegion implements SendRegion {

  /** For providers. */
  protected AbstractSendRegion() {
    super("the region is not claimed: it was sent or aborted already");
  }

  /**
   * Checks that a message can be sent from the region.
   *
   * @param sentLength the message's length in bytes
   * @throws IllegalStateException if the region is not claimed
   * @throws IllegalArgumentException if the message is longer than the region
   */
  public final void checkSendable(int sentLength) {
    checkLent();
    if (sentLength < 0 || sentLength > length()) {
      throw new IllegalArgumentException(
          sentLength + " bytes of a region of " + length() + " cannot be sent");
    }
  }
}
