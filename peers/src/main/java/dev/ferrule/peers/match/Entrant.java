// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

import dev.ferrule.peers.transport.Mode;
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
   * Returns whether there is a way to measure something.
   *
   * @param measure what is measured
   * @return false if it has no such use
   */
  boolean takesPart(Measure measure);

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
   * @param mode how the connection will be used
   * @param problems is told in one line what goes wrong without being a failure
   * @return both sides, to be closed
   */
  Match start(Mode mode, Consumer<String> problems);
}
