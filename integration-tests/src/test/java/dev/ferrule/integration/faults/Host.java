// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

/** Runs a {@link Program}. */
interface Host extends AutoCloseable {

  /** Begins a step; its answer must be read before the next step begins. */
  void begin(String step);

  /** Returns whether the step has ended. */
  boolean isDone();

  /** Waits for the end of the step, and returns what it observed. */
  String answer();

  /** Runs a step, and returns its answer. */
  default String run(String step) {
    begin(step);
    return answer();
  }

  /** Suspends the program. */
  void stop();

  /** Resumes a suspended program. */
  void resume();

  /** Ends the program without closing its connections. */
  @Override
  void close();
}
