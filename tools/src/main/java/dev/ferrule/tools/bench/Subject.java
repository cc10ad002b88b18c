// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/**
 * Whose numbers they are.
 *
 * @param provider the scheme of the provider
 * @param waitStrategy how the client waits, as in a URI's query
 * @param connections how many connections are measured at once
 * @param threads how many threads of the client send on them
 */
public record Subject(String provider, String waitStrategy, int connections, int threads) {

  /**
   * One connection with one thread.
   *
   * @param provider the scheme of the provider
   * @param waitStrategy how the client waits, as in a URI's query
   */
  public Subject(String provider, String waitStrategy) {
    this(provider, waitStrategy, 1, 1);
  }

  /**
   * Returns how many connections and threads there are, as far as there is more than one.
   *
   * @return such as {@code , 4 connections, 2 threads}; empty for one of each
   */
  public String crowd() {
    return several(connections, "connections") + several(threads, "threads");
  }

  private static String several(int count, String what) {
    return count == 1 ? "" : ", " + count + " " + what;
  }
}
