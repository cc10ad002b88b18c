// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.CompletionStatus;

/**
 * The callbacks of the queues to their connection. None of these methods may be called under a
 * lock.
 */
public interface QueueCallbacks {

  /** Called on progress for which a thread may be waiting: a message, or credit. */
  void onProgress();

  /**
   * Called when a sender has released space for which other senders wait, or has posted a message
   * whose completion will free it.
   */
  default void onRoom() {
    onProgress(); // wakes them too
  }

  /** Called on the goodbye of the peer. */
  void onGoodbye();

  /**
   * Called when a message or a control message has failed, and with it the queue pair.
   *
   * @param status the status of the completion
   * @param vendorError the vendor's error code
   */
  void onSendFailure(CompletionStatus status, int vendorError);

  /**
   * Called when a request of remote memory access has failed, and with it the queue pair.
   *
   * @param status the status of the completion
   * @param vendorError the vendor's error code
   */
  void onAccessFailure(CompletionStatus status, int vendorError);

  /**
   * Called when a receive has failed, and with it the queue pair.
   *
   * @param status the status of the completion
   * @param vendorError the vendor's error code
   */
  void onReceiveFailure(CompletionStatus status, int vendorError);

  /**
   * Called on a protocol violation by the peer.
   *
   * @param reason the violation
   */
  void onViolation(String reason);

  /**
   * Called when the device could not post a work request although its queue has space, or could not
   * request an event.
   *
   * @param function the C function
   * @param errno the errno, positive
   */
  void onCallFailure(String function, int errno);

  /**
   * Called on a failure of this side after which the connection cannot continue.
   *
   * @param reason the failure
   */
  default void onFault(String reason) {
    onViolation(reason); // ends the connection as well
  }
}
