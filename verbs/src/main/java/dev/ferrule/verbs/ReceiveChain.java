// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.bindings.verbs.ibv_recv_wr;

/**
 * Work requests for a receive queue, built once and edited in place; see {@link WorkRequestChain}.
 *
 * {@snippet lang=java :
 * ReceiveChain chain = new ReceiveChain(1);
 * chain.set(0, 7, region.segment().address(), 4096, region.localKey());
 * if (queuePair.post(chain, 0, 1) < 0) {
 *   System.out.println("the queue is full, or in error");
 * }
 * }
 *
 * <p><b>Threads:</b> for one thread at a time.
 */
public final class ReceiveChain extends WorkRequestChain {

  /**
   * Builds a chain.
   *
   * @param capacity how many requests it has, at least 1
   */
  public ReceiveChain(int capacity) {
    super(capacity, ibv_recv_wr.sizeof());
  }

  /**
   * Edits a request.
   *
   * @param index which, from 0
   * @param id what its completion is to carry
   * @param address where the memory starts
   * @param length how many bytes it has; 0 takes messages without bytes only
   * @param localKey the memory's key
   */
  public void set(int index, long id, long address, int length, int localKey) {
    fill(index, id, address, length, localKey);
  }
}
