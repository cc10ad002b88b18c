// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.lab.compare.transport.Mode;
import java.util.Optional;
import java.util.function.Consumer;

/** A competitor in a comparison. */
public interface Competitor {

  /** Returns the short name, for options and results. */
  String name();

  /** Returns the library or program measured with its version, and how it is used. */
  String version();

  /** Returns what is missing to run it on this machine, and how to get it; empty if nothing is. */
  default Optional<String> missing() {
    return Optional.empty();
  }

  boolean takesPart(Measure measure);

  /**
   * {@return whether each measurement starts anew and includes its own warm-up: false if the caller
   * must warm it up}
   */
  default boolean warmsUpItself() {
    return false;
  }

  /**
   * Starts both sides, which the caller closes. {@code problems} receives one line for each problem
   * that is not a failure.
   */
  BenchmarkRun start(Mode mode, Consumer<String> problems);
}
