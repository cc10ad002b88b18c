// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

/**
 * One measurement, as both sides of a match are told of it.
 *
 * @param measure what to measure
 * @param count how many messages; of several senders, how many from all of them
 * @param size their length in bytes
 */
record Order(Measure measure, int count, int size) {

  /** Returns what {@link #parse} reads. */
  String line() {
    return measure.name() + " " + count + " " + size;
  }

  static Order parse(String line) {
    String[] words = line.split(" ");
    return new Order(
        Measure.valueOf(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2]));
  }
}
