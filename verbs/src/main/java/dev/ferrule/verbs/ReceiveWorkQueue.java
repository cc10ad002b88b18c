// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * A queue to which receives are posted: a queue pair's own receive queue, or a shared one.
 *
 * <p><b>Threads:</b> one thread at a time posts.
 */
public sealed interface ReceiveWorkQueue permits QueuePair, SharedReceiveQueue {

  /**
   * Posts receives. Does not wait or allocate.
   *
   * @param chain the chain of the requests
   * @param first the index of the first request
   * @param count the number of requests, at least 1
   * @return 0; -errno if a request was not posted, such as -ENOMEM for a full queue: {@link
   *     ReceiveChain#failedIndex} returns the first such request
   */
  int post(ReceiveChain chain, int first, int count);
}
