// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * The processors that the threads of a measurement may use.
 *
 * @param shared whether they are the same ones, of one host
 */
public record Processors(int client, int server, boolean shared) {

  public Processors {
    if (client < 1 || server < 1 || shared && client != server) {
      throw new IllegalArgumentException(
          "no such processors: " + client + ", " + server + (shared ? ", shared" : ""));
    }
  }

  public static Processors ofOneHost(int count) {
    return new Processors(count, count, true);
  }

  public static Processors ofTwoHosts(int client, int server) {
    return new Processors(client, server, false);
  }

  /** {@return as many processors as there are threads} */
  static Processors unlimited() {
    return ofTwoHosts(Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  public int all() {
    return shared ? client : client + server;
  }

  /** Returns whether each of so many threads has a processor of its own. */
  public boolean suffice(int clientThreads, int serverThreads) {
    return shared
        ? clientThreads + serverThreads <= client
        : clientThreads <= client && serverThreads <= server;
  }

  /**
   * Returns for how many client threads there are processors beside those of the server, at least
   * 1.
   */
  public int beside(int serverThreads) {
    return shared ? Math.max(1, client - serverThreads) : client;
  }

  /**
   * {@return for how many pairs of a client's and a server's thread there are processors, at least
   * 1}
   */
  public int pairs() {
    return shared ? Math.max(1, client / 2) : Math.min(client, server);
  }
}
