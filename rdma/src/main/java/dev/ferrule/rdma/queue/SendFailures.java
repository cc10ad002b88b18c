// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.CompletionStatus;

/**
 * Keeps the failures of a send queue until they are reported to the connection.
 *
 * <p><b>Threads:</b> under the send queue's lock, except {@link #report}, which takes it. Exactly
 * one thread reports a failure: the first one that calls report after it. It need not be the thread
 * that found the failure, because not every thread may call report.
 */
final class SendFailures {

  private final SpinLock lock;
  private final QueueCallbacks callbacks;
  private CompletionStatus failure = CompletionStatus.SUCCESS; // the first one
  private int vendorError;
  private boolean ofAccess;
  private boolean failureReported;
  private int postError; // not reported yet

  /**
   * Whether a failure of a work request or of posting is unreported. Written under the lock and
   * read without it. This is safe: a reporting thread has just released the lock, so it sees all
   * failures found before, and a thread that finds a later failure reports it itself.
   */
  private volatile boolean unreported;

  SendFailures(SpinLock lock, QueueCallbacks callbacks) {
    this.lock = lock;
    this.callbacks = callbacks;
  }

  /** Returns whether a work request has failed; then all later ones fail as well. */
  boolean isFailed() {
    return failure != CompletionStatus.SUCCESS;
  }

  /**
   * Records the first failed work request.
   *
   * @param access whether the request is one of remote memory access
   */
  void completed(CompletionStatus status, int error, boolean access) {
    failure = status;
    vendorError = error;
    ofAccess = access;
    unreported = true;
  }

  /**
   * Records the result of posting a request that does not belong to a sender.
   *
   * @param result the result of posting; below 0 if it failed
   */
  void posted(int result) {
    if (result < 0) {
      postError = -result;
      unreported = true;
    }
  }

  /** Reports a failure to the connection. Not under the lock, since it runs callbacks. */
  void report() {
    if (!unreported) {
      return;
    }
    boolean isNew;
    int error;
    lock.lock();
    try {
      unreported = false;
      isNew = isFailed() && !failureReported;
      failureReported = isFailed();
      error = postError;
      postError = 0;
    } finally {
      lock.unlock();
    }
    if (isNew) {
      reportCompletion();
    } else if (error != 0) {
      callbacks.onCallFailure("ibv_post_send", error);
    }
  }

  /**
   * Reports the failure that has caused the queue pair's error, even if another thread is about to
   * report it. Not under the lock.
   *
   * @return false if the cause is unknown
   */
  boolean reportCause() {
    boolean known;
    lock.lock();
    try {
      known = isFailed() && failure != CompletionStatus.FLUSHED;
    } finally {
      lock.unlock();
    }
    if (known) {
      reportCompletion();
    }
    return known;
  }

  /** Reports the failed work request, whose fields no longer change. */
  private void reportCompletion() {
    if (ofAccess) {
      callbacks.onAccessFailure(failure, vendorError);
    } else {
      callbacks.onSendFailure(failure, vendorError);
    }
  }
}
