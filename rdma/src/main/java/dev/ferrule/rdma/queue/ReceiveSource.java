// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

/** The source of completions for a receiver: one receive queue, or several. */
public interface ReceiveSource {

  /**
   * Polls for completions.
   *
   * @return whether there were any
   */
  boolean poll();

  /** Polls until there are no completions, even if another thread is polling. */
  void drain();

  /**
   * Requests an event at the next completion. Called before a thread sleeps; a call of {@link
   * #disarm} follows each call.
   */
  void arm();

  /**
   * Ends the wait that {@link #arm} has begun, when the thread is awake again. A later event has no
   * effect.
   */
  void disarm();
}
