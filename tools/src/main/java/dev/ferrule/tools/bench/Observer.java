// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.List;
import java.util.function.Supplier;

/** Receives the progress of a measurement, between its rounds, in the measuring thread. */
public interface Observer {

  /** Ignores the progress. */
  Observer NONE = (stage, soFar) -> {};

  /**
   * Reports progress; called before each warm-up and after each round.
   *
   * @param stage the current or completed stage, in a few words
   * @param soFar summarizes the results so far, which takes some time; valid until this method
   *     returns
   */
  void progress(String stage, Supplier<List<Result>> soFar);
}
