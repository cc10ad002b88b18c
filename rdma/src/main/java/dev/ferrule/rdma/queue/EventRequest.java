// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.CompletionQueue;

/**
 * The notification request of a completion queue. A request is a system call and is valid for one
 * event, so one request suffices for all threads that sleep until that event.
 *
 * <p><b>Threads:</b> safe for use by several threads; {@link #stop} is called under the lock.
 * Without the lock, a thread could rely on a request that another thread is still making, and that
 * fails. Or a request could be recorded after its event was handled; then no thread would make
 * another one.
 */
final class EventRequest {

  /** The C function that requests an event. */
  static final String FUNCTION = "ibv_req_notify_cq";

  private final CompletionQueue completions;
  private final SpinLock lock;
  private boolean pending; // a request was made, and its event is not handled yet; under the lock
  private boolean stopped; // under the lock

  /**
   * Creates an instance without a request.
   *
   * @param completions the completion queue
   * @param lock the lock of the queue over it; callers hold it only for {@link #stop}
   */
  EventRequest(CompletionQueue completions, SpinLock lock) {
    this.completions = completions;
    this.lock = lock;
  }

  /**
   * Requests an event, unless one is pending. The next call retries a failed request.
   *
   * @return 0; or the errno if the request failed: then no event wakes the sleeping threads
   */
  int make() {
    lock.lock();
    try {
      int result = 0;
      if (!pending && !stopped) {
        result = completions.requestNotification();
        pending = result == 0;
      }
      return -result;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Records that the event has arrived. Called before threads are woken, so that they make another
   * request.
   */
  void used() {
    lock.lock();
    try {
      pending = false;
    } finally {
      lock.unlock();
    }
  }

  /** Stops making requests, so that the completion queue can be destroyed. Under the lock. */
  void stop() {
    stopped = true;
  }
}
