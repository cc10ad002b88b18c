// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.CompletionStatus;

/** A connection as its queues see it. None of these methods may be called under a lock. */
public interface Link {

  /** Something came that a thread may wait for: a message, or credit. */
  void onProgress();

  /** The peer has said goodbye. */
  void onGoodbye();

  /**
   * A work request failed, and with it the queue pair.
   *
   * @param status how
   * @param vendorError the device's own code
   */
  void onFailure(CompletionStatus status, int vendorError);

  /**
   * The peer broke the protocol.
   *
   * @param reason what it did
   */
  void onViolation(String reason);

  /**
   * The device did not take a work request that there should have been room for.
   *
   * @param function the C function
   * @param errno what it reported
   */
  void onPostFailure(String function, int errno);

  /**
   * Something on this side without which the connection cannot go on has failed.
   *
   * @param reason what
   */
  default void onFault(String reason) {
    onViolation(reason); // which ends the connection as well
  }
}
