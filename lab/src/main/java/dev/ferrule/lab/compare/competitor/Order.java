// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

/**
 * One measurement, as sent to both sides.
 *
 * @param count the number of messages, of all senders together
 * @param size their length in bytes
 */
record Order(Measure measure, int count, int size) {

  /** Returns the text that {@link #parse} reads. */
  String line() {
    return measure.name() + " " + count + " " + size;
  }

  static Order parse(String line) {
    String[] words = line.split(" ");
    return new Order(
        Measure.valueOf(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2]));
  }
}
