// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.SendRegion;

/**
 * The base class of send regions. A region is claimed, committed, staged or aborted, and reused for
 * later messages.
 */
public abstract class AbstractSendRegion extends LentRegion implements SendRegion {

  /** Creates a region that is not claimed. */
  protected AbstractSendRegion() {
    super("the region is not claimed: it was already committed, staged or aborted");
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
          "cannot send " + sentLength + " bytes of a region of " + length() + " bytes");
    }
  }

  @Override
  public final void close() {
    if (isLent()) {
      abort();
    }
  }
}
