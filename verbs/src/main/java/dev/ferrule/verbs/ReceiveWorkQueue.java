// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * Where receives are posted: a queue pair's own receive queue, or one that several share.
 *
 * <p><b>Threads:</b> one thread at a time posts.
 */
public sealed interface ReceiveWorkQueue permits QueuePair, SharedReceiveQueue {

  /**
   * Posts receives. Does not wait or allocate.
   *
   * @param chain holds them
   * @param first the first one
   * @param count how many, at least 1
   * @return 0; below 0 if one was not taken, such as -ENOMEM for a full queue: then {@link
   *     ReceiveChain#failedIndex} says which
   */
  int post(ReceiveChain chain, int first, int count);
}
