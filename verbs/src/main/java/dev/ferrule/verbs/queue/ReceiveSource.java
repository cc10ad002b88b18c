// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

/** Where a receiver looks for completions: one queue, or several. */
public interface ReceiveSource {

  /**
   * Looks for completions.
   *
   * @return whether there were any
   */
  boolean poll();

  /** Looks for completions until there are none, even if somebody else is at it. */
  void drain();

  /**
   * Asks for an event when the next completion comes, before the thread sleeps. Each call is
   * followed by one of {@link #disarm}.
   */
  void arm();

  /** The thread is awake again. An event that comes all the same does no harm. */
  void disarm();
}
