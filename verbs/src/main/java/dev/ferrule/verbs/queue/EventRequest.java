// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.CompletionQueue;

/**
 * The request for an event of a completion queue. A request is a system call, and holds until an
 * event uses it up; so one is enough for all threads that sleep meanwhile.
 *
 * <p><b>Threads:</b> any thread may call anything, but {@link #stop} under the lock. Without a
 * lock, a thread could see a request that another one is about to make, and that may fail; or a
 * request could be entered after its event was handled, and no thread would ever make another one.
 */
final class EventRequest {

  private final CompletionQueue completions;
  private final SpinLock lock;
  private boolean pending; // made, and its event was not handled; under the lock
  private boolean stopped; // under the lock

  /**
   * Begins without a request.
   *
   * @param completions the completion queue
   * @param lock that of the queue over it, which is not held by callers but for {@link #stop}
   */
  EventRequest(CompletionQueue completions, SpinLock lock) {
    this.completions = completions;
    this.lock = lock;
  }

  /** Requests an event, unless one is due. A request that fails is made again by the next call. */
  void make() {
    lock.lock();
    try {
      if (!pending && !stopped) {
        pending = completions.requestNotification() >= 0;
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * An event has come. To be called before threads are woken, so that they make another request.
   */
  void used() {
    lock.lock();
    try {
      pending = false;
    } finally {
      lock.unlock();
    }
  }

  /** Makes no more requests, so that the completion queue can be destroyed. Under the lock. */
  void stop() {
    stopped = true;
  }
}
