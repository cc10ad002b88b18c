// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

import java.util.Optional;
import java.util.function.Consumer;

/** Someone who may take part in a comparison. */
public interface Entrant {

  /**
   * Returns the short name by which it is chosen and shown.
   *
   * @return a word
   */
  String name();

  /**
   * Returns what exactly is measured.
   *
   * @return the library or program with its version, and how it is used
   */
  String version();

  /**
   * Returns what keeps it from taking part on this machine.
   *
   * @return what is missing and how to get it; empty if nothing is
   */
  default Optional<String> missing() {
    return Optional.empty();
  }

  /**
   * Tells whether there is a rate to measure.
   *
   * @return false if only the latency can be measured
   */
  default boolean hasRate() {
    return true;
  }

  /**
   * Tells whether each measurement starts anew and warms itself up.
   *
   * @return false if the caller is to do many messages before the ones that count
   */
  default boolean warmsUpItself() {
    return false;
  }

  /**
   * Gets both sides ready.
   *
   * @param problems is told in one line what goes wrong without being a failure
   * @return both sides, to be closed
   */
  Match start(Consumer<String> problems);
}
