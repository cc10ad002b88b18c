// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

/**
 * Several connections between two processes of one host, all of which send at once.
 *
 * @param load what each connection carries
 * @param connections how many there are
 * @param senders how many threads send
 * @param receivers how many receive
 * @param processors how many of all these threads run at a time
 */
public record Crowd(Load load, int connections, int senders, int receivers, int processors) {

  /** Refuses what cannot be. */
  public Crowd {
    if (connections < 1 || senders < 1 || receivers < 1 || processors < 1) {
      throw new IllegalArgumentException(
          "connections, senders, receivers and processors are at least 1: "
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
   * One connection, which has a processor on each side.
   *
   * @param load what it carries
   * @return the smallest crowd
   */
  public static Crowd of(Load load) {
    return new Crowd(load, 1, 1, 1, Integer.MAX_VALUE);
  }

  /**
   * Tells whether messages follow each other on one connection, with a processor for each side: all
   * that a model is fitted to.
   *
   * @return whether nothing is shared
   */
  public boolean isUndisturbed() {
    return connections == 1 && processors > 1;
  }

  /** How many threads at one side have something to do. */
  int busy(int threads) {
    return Math.min(threads, connections);
  }
}
