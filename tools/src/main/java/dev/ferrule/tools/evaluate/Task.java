// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import com.google.gson.JsonObject;
import dev.ferrule.tools.model.Crowd;
import java.util.Optional;

/** One point of an experiment, to be measured once in each round. */
public interface Task {

  /**
   * Says what is measured. This is what the journal knows it by, so it is the same from one run of
   * the command to the next, and no two tasks that differ have the same.
   *
   * @return members that are numbers, strings or objects of strings
   */
  JsonObject description();

  /**
   * Measures, for a second or so.
   *
   * @param bench what to measure with
   * @return the figures by name
   */
  JsonObject run(Workbench bench);

  /**
   * Returns what the model needs to know to predict it.
   *
   * @return how messages are sent; empty if the model does not have this
   */
  default Optional<Crowd> crowd() {
    return Optional.empty();
  }

  /**
   * Returns what has to be set up for it. Tasks of one experiment that need the same are measured
   * one after the other, as setting up may take longer than measuring.
   *
   * @return a value with {@code equals}; by default one that no other task has
   */
  default Object setting() {
    return this;
  }
}
