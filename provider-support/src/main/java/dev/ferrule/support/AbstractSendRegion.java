// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.SendRegion;

/**
 * The base class of send regions. A region is claimed, committed, staged or aborted, and reused for
 * later messages.
 */
public abstract class AbstractSendRegion extends LentRegion implements SendRegion {

  private final AbstractSender sender;
  private final SingleThreadedUse use;

  /**
   * Creates a region that is not claimed.
   *
   * @param sender the sender that claims it
   * @param use the check for use of that sender by one thread
   */
  protected AbstractSendRegion(AbstractSender sender, SingleThreadedUse use) {
    super("the region is not claimed: it was already committed, staged or aborted");
    this.sender = sender;
    this.use = use;
  }

  /**
   * Stages the message, which is valid, and takes the region back.
   *
   * @param sentLength the message's length in bytes
   * @return the message's id
   */
  protected abstract long stageMessage(int sentLength);

  /** Releases the space of the region, which was taken back. */
  protected abstract void release();

  @Override
  public final long commit(int sentLength) {
    use.begin();
    try {
      long id = stage(sentLength);
      sender.publish();
      return id;
    } finally {
      use.end();
    }
  }

  @Override
  public final long stage(int sentLength) {
    use.begin();
    try {
      sender.checkOpen();
      checkSendable(sentLength);
      return stageMessage(sentLength);
    } finally {
      use.end();
    }
  }

  private void checkSendable(int sentLength) {
    checkLent();
    if (sentLength < 0 || sentLength > length()) {
      throw new IllegalArgumentException(
          "cannot send " + sentLength + " bytes of a region of " + length() + " bytes");
    }
  }

  @Override
  public final void abort() {
    use.begin();
    try {
      takeBack();
      release();
    } finally {
      use.end();
    }
  }

  @Override
  public final void close() {
    if (isLent()) {
      abort();
    }
  }
}
