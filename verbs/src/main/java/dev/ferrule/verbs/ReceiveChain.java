// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.verbs.libibverbs.ibv_recv_wr;

/**
 * Work requests for a receive queue, built once and edited in place; see {@link WorkRequestChain}.
 *
 * {@snippet lang=java :
 * ReceiveChain chain = new ReceiveChain(1);
 * chain.set(0, 7, region.segment().address(), 4096, region.localKey());
 * int result = queuePair.post(chain, 0, 1);
 * if (result < 0) {
 *   System.out.println("not posted, errno " + -result); // ENOMEM: the queue is full
 * }
 * }
 *
 * <p><b>Threads:</b> one thread at a time uses it.
 */
public final class ReceiveChain extends WorkRequestChain {

  /**
   * Creates a chain.
   *
   * @param capacity the number of requests, at least 1
   */
  public ReceiveChain(int capacity) {
    super(capacity, ibv_recv_wr.sizeof(), 1);
  }

  /**
   * Edits a request.
   *
   * @param index the request's index, from 0
   * @param id the work request id, which its completion carries
   * @param address the address of the memory
   * @param length the length in bytes; 0 accepts only empty messages
   * @param localKey the memory's local key
   */
  public void set(int index, long id, long address, int length, int localKey) {
    fill(index, id, address, length, localKey);
  }
}
