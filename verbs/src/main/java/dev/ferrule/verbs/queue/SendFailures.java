// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.CompletionStatus;

/**
 * What went wrong with a send queue, until the connection is told.
 *
 * <p><b>Threads:</b> under the send queue's lock, but for {@link #report}, which takes it.
 * Whichever thread reports first after a failure tells of it, and no other: it need not be the one
 * that has found it, as not all that do can tell.
 */
final class SendFailures {

  private final SpinLock lock;
  private final Link link;
  private boolean failed;
  private CompletionStatus failure = CompletionStatus.SUCCESS; // not told yet
  private int vendorError;
  private int postError; // not told yet

  /**
   * Whether one of the two is there. Set and cleared under the lock, and read without: a thread
   * that reports has just had the lock, so it sees all that was found before it had; and what
   * another one finds after that is the other one's to report.
   */
  private volatile boolean untold;

  SendFailures(SpinLock lock, Link link) {
    this.lock = lock;
    this.link = link;
  }

  /** Whether a work request has failed, and with it all after it. */
  boolean isFailed() {
    return failed;
  }

  /** A work request failed for the first time. */
  void completed(CompletionStatus status, int error) {
    failed = true;
    failure = status;
    vendorError = error;
    untold = true;
  }

  /**
   * Something was posted.
   *
   * @param result what posting returned: below 0, the device has not taken it
   */
  void posted(int result) {
    if (result < 0) {
      postError = -result;
      untold = true;
    }
  }

  /** Tells the connection what went wrong; not under the lock, for that may do anything. */
  void report() {
    if (!untold) {
      return;
    }
    CompletionStatus status;
    int vendor;
    int error;
    lock.lock();
    try {
      untold = false;
      vendor = vendorError;
      status = failure;
      failure = CompletionStatus.SUCCESS;
      error = postError;
      postError = 0;
    } finally {
      lock.unlock();
    }
    if (status != CompletionStatus.SUCCESS) {
      link.onFailure(status, vendor);
    } else if (error != 0) {
      link.onPostFailure("ibv_post_send", error);
    }
  }
}
