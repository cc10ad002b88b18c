// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * The processors that the threads of a measurement may use.
 *
 * @param shared whether client and server share the processors of one host
 */
public record Processors(int client, int server, boolean shared) {

  public Processors {
    if (client < 1 || server < 1 || shared && client != server) {
      throw new IllegalArgumentException(
          "processors must be at least 1, and if shared the same number on both sides: "
              + client
              + ", "
              + server
              + (shared ? ", shared" : ""));
    }
  }

  public static Processors ofOneHost(int count) {
    return new Processors(count, count, true);
  }

  public static Processors ofTwoHosts(int client, int server) {
    return new Processors(client, server, false);
  }

  /** {@return processors for any number of threads} */
  static Processors unlimited() {
    return ofTwoHosts(Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  public int all() {
    return shared ? client : client + server;
  }

  /** Returns whether each of that many threads has a processor of its own. */
  public boolean suffice(int clientThreads, int serverThreads) {
    return shared
        ? clientThreads + serverThreads <= client
        : clientThreads <= client && serverThreads <= server;
  }

  /**
   * Returns the number of client threads that have a processor of their own beside the server's
   * threads, at least 1.
   */
  public int beside(int serverThreads) {
    return shared ? Math.max(1, client - serverThreads) : client;
  }

  /**
   * {@return the number of pairs of a client thread and a server thread that have a processor each,
   * at least 1}
   */
  public int pairs() {
    return shared ? Math.max(1, client / 2) : Math.min(client, server);
  }
}
