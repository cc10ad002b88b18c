// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.CompletionQueue;

/**
 * The request for an event of a completion queue. A request is a system call, and holds until an
 * event uses it up; so one is enough for all threads that sleep meanwhile.
 *
 * <p><b>Threads:</b> under the lock of the queue that has it. Without the lock, a thread could see
 * a request that another one is about to make, and that may fail; or a request could be entered
 * after its event was handled, and no thread would ever make another one.
 */
final class EventRequest {

  private final CompletionQueue completions;
  private boolean pending; // made, and its event was not handled

  EventRequest(CompletionQueue completions) {
    this.completions = completions;
  }

  /** Requests an event, unless one is due. A request that fails is made again by the next call. */
  void make() {
    if (!pending) {
      pending = completions.requestNotification() >= 0;
    }
  }

  /**
   * An event has come. To be called before threads are woken, so that they make another request.
   */
  void used() {
    pending = false;
  }
}
