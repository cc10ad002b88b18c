// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * Several connections between two processes of one host, all of which send concurrently.
 *
 * @param load the load of each connection
 * @param connections the number of connections
 * @param senders the number of sending threads
 * @param receivers the number of receiving threads
 * @param processors how many of all these threads run at a time
 */
public record Concurrency(Load load, int connections, int senders, int receivers, int processors) {

  /** Checks the values. */
  public Concurrency {
    if (connections < 1 || senders < 1 || receivers < 1 || processors < 1) {
      throw new IllegalArgumentException(
          "connections, senders, receivers and processors must be at least 1: "
              + connections
              + ", "
              + senders
              + ", "
              + receivers
              + ", "
              + processors);
    }
  }

  /**
   * Returns one connection, with a processor on each side.
   *
   * @param load its load
   * @return the smallest concurrency
   */
  public static Concurrency of(Load load) {
    return new Concurrency(load, 1, 1, 1, Integer.MAX_VALUE);
  }

  /**
   * Returns whether there is one connection with a processor for each side, which is all that a
   * model is fitted to.
   *
   * @return true if nothing is shared
   */
  public boolean isUndisturbed() {
    return connections == 1 && processors > 1;
  }

  /** Returns how many threads of a side are busy. */
  int busy(int threads) {
    return Math.min(threads, connections);
  }
}
