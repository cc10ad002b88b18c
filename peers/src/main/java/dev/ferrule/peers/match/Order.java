// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

/**
 * One measurement, as both sides of a match are told of it.
 *
 * @param kind what to measure
 * @param count how many messages
 * @param size their length in bytes
 */
record Order(Kind kind, long count, int size) {

  /** What is measured. */
  enum Kind {
    /** Round trips, halved. */
    ONE_WAY,

    /** Messages per second. */
    RATE
  }

  /** Returns what {@link #parse} reads. */
  String line() {
    return kind + " " + count + " " + size;
  }

  static Order parse(String line) {
    String[] words = line.split(" ");
    return new Order(Kind.valueOf(words[0]), Long.parseLong(words[1]), Integer.parseInt(words[2]));
  }
}
