// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/**
 * What is measured, for the labels of results.
 *
 * @param provider the scheme of the provider
 * @param waitStrategy how the client waits, as in a URI's query
 * @param connections the number of connections measured at once
 * @param threads the number of client threads that send on them
 */
public record Subject(String provider, String waitStrategy, int connections, int threads) {

  /** {@return the labels, such as {@code sm, wait spin, 4 connections, 2 threads}} */
  public String title() {
    return provider + ", wait " + waitStrategy + concurrency();
  }

  /** Returns the numbers of connections and threads, if greater than one. */
  String concurrency() {
    return several(connections, "connections") + several(threads, "threads");
  }

  private static String several(int count, String what) {
    return count == 1 ? "" : ", " + count + " " + what;
  }
}
