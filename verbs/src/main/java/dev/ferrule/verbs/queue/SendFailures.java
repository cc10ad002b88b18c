// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.CompletionStatus;

/**
 * What went wrong with a send queue, until the connection is told.
 *
 * <p><b>Threads:</b> under the send queue's lock, but for {@link #report}, which takes it.
 */
final class SendFailures {

  private final SpinLock lock;
  private final Link link;
  private boolean failed;
  private CompletionStatus failure = CompletionStatus.SUCCESS; // not told yet
  private int vendorError;
  private int postError; // not told yet

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
  }

  /**
   * Something was posted.
   *
   * @param result what posting returned: below 0, the device has not taken it
   */
  void posted(int result) {
    if (result < 0) {
      postError = -result;
    }
  }

  /** Tells the connection what went wrong; not under the lock, for that may do anything. */
  void report() {
    if (failure == CompletionStatus.SUCCESS && postError == 0) {
      return;
    }
    CompletionStatus status;
    int error;
    lock.lock();
    try {
      status = failure;
      failure = CompletionStatus.SUCCESS;
      error = postError;
      postError = 0;
    } finally {
      lock.unlock();
    }
    if (status != CompletionStatus.SUCCESS) {
      link.onFailure(status, vendorError);
    } else if (error != 0) {
      link.onPostFailure("ibv_post_send", error);
    }
  }
}
