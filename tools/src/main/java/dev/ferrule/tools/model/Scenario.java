// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

/**
 * Nodes that send to each other, as many as nobody has at hand.
 *
 * @param pattern who sends to whom
 * @param nodes how many send; or how many there are, if each sends to each
 * @param load what each connection carries
 * @param threads how many threads of a node send, and how many receive
 * @param processors how many processors the nodes share, if they are processes of one host; 0 if
 *     each has its own
 */
public record Scenario(Pattern pattern, int nodes, Load load, int threads, int processors) {

  /** Who sends to whom. */
  public enum Pattern {
    /** All send to one. */
    ALL_TO_ONE("N:1"),
    /** Each sends to each other. */
    ALL_TO_ALL("N:N");

    private final String symbol;

    Pattern(String symbol) {
      this.symbol = symbol;
    }

    /** Returns the pattern as people write it. */
    @Override
    public String toString() {
      return symbol;
    }
  }

  /**
   * How many connections a node has that receives.
   *
   * @return one for each other node
   */
  public int connections() {
    return pattern == Pattern.ALL_TO_ONE ? nodes : nodes - 1;
  }

  /** How many nodes receive. */
  int receivers() {
    return pattern == Pattern.ALL_TO_ONE ? 1 : nodes;
  }
}
