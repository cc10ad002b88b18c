// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.List;
import java.util.function.Supplier;

/** Is told how far a measurement is, between its rounds and by the thread that measures. */
public interface Observer {

  /** Is not interested. */
  Observer NONE = (stage, soFar) -> {};

  /**
   * Is called before each warm-up, and after each round.
   *
   * @param stage what was, or is being done, in a few words
   * @param soFar sums up what was measured so far, which takes a moment; to be used before this
   *     returns
   */
  void progress(String stage, Supplier<List<Result>> soFar);
}
