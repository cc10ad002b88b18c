// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

/** Where a {@link Program} runs. */
interface Host extends AutoCloseable {

  /** Begins a step; its answer must be fetched before the next one. */
  void begin(String step);

  /** Returns whether the step has ended. */
  boolean isDone();

  /** Waits for the end of the step, and returns what it observed. */
  String answer();

  /** Does a step. */
  default String run(String step) {
    begin(step);
    return answer();
  }

  /** Stops the program for a while. */
  void stop();

  /** Lets a stopped program go on. */
  void resume();

  /** Ends the program without a goodbye. */
  @Override
  void close();
}
