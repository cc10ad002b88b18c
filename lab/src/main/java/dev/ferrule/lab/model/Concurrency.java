// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * Several connections from a client to a server, all of which send concurrently.
 *
 * @param senders the number of sending threads, of the client
 * @param receivers the number of receiving threads, of the server
 * @param processors the processors that these threads may use
 */
public record Concurrency(
    Load load, int connections, int senders, int receivers, Processors processors) {

  public Concurrency {
    if (connections < 1 || senders < 1 || receivers < 1) {
      throw new IllegalArgumentException(
          "connections, senders and receivers must be at least 1: %s, %s, %s"
              .formatted(connections, senders, receivers));
    }
  }

  /** Returns one connection, with a processor on each side. */
  public static Concurrency of(Load load) {
    return new Concurrency(load, 1, 1, 1, Processors.unlimited());
  }

  /**
   * {@return whether there is one connection and each side has a processor of its own; models are
   * fitted to such measurements only}
   */
  public boolean isUndisturbed() {
    return connections == 1 && processors.suffice(1, 1);
  }

  /** Returns the number of busy threads among {@code threads} of one side. */
  int busy(int threads) {
    return Math.min(threads, connections);
  }
}
