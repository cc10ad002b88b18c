// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * Any number of nodes that send to one of them or to each other.
 *
 * @param nodes the number of senders; for all-to-all the number of nodes
 * @param threads the number of sending threads, and of receiving threads, of a node
 * @param processors the number of processors shared by the nodes, if they are processes of one
 *     host; 0 if each has its own
 */
public record Scenario(Pattern pattern, int nodes, Load load, int threads, int processors) {

  public enum Pattern {
    /** All send to one. */
    ALL_TO_ONE("N:1"),
    /** Each sends to every other. */
    ALL_TO_ALL("N:N");

    private final String symbol;

    Pattern(String symbol) {
      this.symbol = symbol;
    }

    /** Returns the pattern's notation. */
    @Override
    public String toString() {
      return symbol;
    }
  }

  /** Returns the number of connections of a receiving node, one for each other node. */
  public int connections() {
    return pattern == Pattern.ALL_TO_ONE ? nodes : nodes - 1;
  }

  int receivers() {
    return pattern == Pattern.ALL_TO_ONE ? 1 : nodes;
  }
}
