// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.lab.compare.transport.Mode;
import java.util.Optional;
import java.util.function.Consumer;

/** A competitor in a comparison. */
public interface Competitor {

  /**
   * Returns the short name, for options and results.
   *
   * @return a word
   */
  String name();

  /**
   * Returns the version measured.
   *
   * @return the library or program with its version, and how it is used
   */
  String version();

  /**
   * Returns why it cannot run on this machine.
   *
   * @return what is missing and how to get it; empty if nothing is
   */
  default Optional<String> missing() {
    return Optional.empty();
  }

  /**
   * Returns whether it supports a measure.
   *
   * @param measure what is measured
   * @return false if it has no such use
   */
  boolean takesPart(Measure measure);

  /**
   * {@return whether each measurement starts anew and includes its own warm-up: false if the caller
   * must warm it up}
   */
  default boolean warmsUpItself() {
    return false;
  }

  /**
   * Starts both sides.
   *
   * @param mode how the connection will be used
   * @param problems receives one line for each problem that is not a failure
   * @return both sides, which the caller closes
   */
  BenchmarkRun start(Mode mode, Consumer<String> problems);
}
