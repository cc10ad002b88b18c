// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.JsonObject;
import dev.ferrule.lab.model.Concurrency;
import java.util.Optional;

/** One point of an experiment, to be measured once in each round. */
public interface Task {

  /**
   * Returns what is measured: numbers, strings, or objects of strings. The journal identifies the
   * task by this: it must be the same in every run of the command, and differ between any two
   * tasks.
   */
  JsonObject description();

  /** Measures for about a second; returns the figures by name. */
  JsonObject run(Workbench bench);

  /** Returns what the model needs for a prediction; empty if the model does not cover this. */
  default Optional<Concurrency> concurrency() {
    return Optional.empty();
  }

  /**
   * Returns the set-up that it needs, a value with {@code equals}. Tasks of one experiment with
   * equal set-ups are measured one after the other, as setting up may take longer than measuring.
   */
  default Object setup() {
    return this;
  }
}
