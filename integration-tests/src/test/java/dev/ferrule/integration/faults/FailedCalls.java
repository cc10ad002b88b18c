// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts the calls that have failed by injected faults in all schedules of a test. The calls of a
 * process that is killed are not counted.
 */
final class FailedCalls {

  private final Map<String, Integer> counts = new TreeMap<>();

  /**
   * Creates an instance.
   *
   * @param functions the functions whose calls may fail
   */
  FailedCalls(Set<String> functions) {
    functions.forEach(function -> counts.put(function, 0));
  }

  /** Adds the answer to the step {@code failed}: words such as {@code mmap:17}. */
  void add(Answer answer) {
    for (String word : answer.words()) {
      String[] parts = word.split(":");
      counts.computeIfPresent(parts[0], (function, count) -> count + Integer.parseInt(parts[1]));
    }
  }

  /** {@return the functions whose calls may fail, always in the same order} */
  List<String> functions() {
    return List.copyOf(counts.keySet());
  }

  /** Returns whether calls of each function have failed. */
  boolean isComplete() {
    return !counts.containsValue(0);
  }

  /** Checks that calls of each function have failed: otherwise their faults were not tested. */
  void expectAll() {
    if (!isComplete()) {
      throw new AssertionError("calls of a function have never failed: " + counts);
    }
  }
}
