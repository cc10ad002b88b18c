// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.Locale;

/**
 * The result of a {@link DiagnosticStep}.
 *
 * @param status the status
 * @param text the exit code and the duration, or the reason
 */
record StepResult(Status status, String text) {

  /** The status of a step. */
  enum Status {
    /** The command ended with 0. */
    OK,

    /**
     * The command ended with another exit code, exceeded its time limit or could not be started.
     */
    FAILED,

    /** The command's program is not installed. */
    SKIPPED;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns the step's line in the list of results. */
  String line(String name) {
    return Finding.line(status.toString(), name, text);
  }

  @Override
  public String toString() {
    return status + ", " + text;
  }
}
