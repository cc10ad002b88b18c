// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

/**
 * The timeout for {@code IBV_EVENT_QP_LAST_WQE_REACHED}: a queue pair in the error state consumes
 * no more receives of its shared receive queue. Devices should report it immediately, but some
 * never do. For these, the timeout becomes short after a few waits.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class LastWqeTimeout {

  static final long LONG_NANOS = 100_000_000;

  /** Long enough for a device to finish the work in progress, although that cannot be verified. */
  static final long SHORT_NANOS = 1_000_000;

  static final int ATTEMPTS = 3;

  private boolean reported;
  private int attempts = ATTEMPTS;

  /** Creates the timeout of a device with unknown behaviour. */
  LastWqeTimeout() {}

  /** {@return the current timeout, in nanoseconds} */
  public synchronized long nanos() {
    return reported || attempts > 0 ? LONG_NANOS : SHORT_NANOS;
  }

  /**
   * Records the outcome of a wait.
   *
   * @param isReported whether the device has reported the event
   */
  public synchronized void waited(boolean isReported) {
    reported |= isReported;
    if (!isReported) {
      attempts = Math.max(0, attempts - 1);
    }
  }
}
