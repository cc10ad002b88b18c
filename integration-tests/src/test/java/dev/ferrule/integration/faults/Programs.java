// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.ArrayList;
import java.util.List;

/** The two programs of a schedule, and what they have done. */
final class Programs {

  private static final int SHOWN = 80;

  private final Environment environment;
  private final List<String> trail = new ArrayList<>();

  Programs(Environment environment) {
    this.environment = environment;
  }

  /** Runs a step of a side, and returns its answer. */
  Answer step(int side, String step) {
    environment.host(side).begin(step);
    return answer(side, step);
  }

  /** Waits for the answer of a step that has begun. */
  Answer answer(int side, String step) {
    note(name(side) + " " + shortened(step, 200));
    String text = environment.host(side).answer();
    note("  " + shortened(text, 600));
    if (text.startsWith("!")) {
      throw new AssertionError("a program has exited");
    }
    return Answer.of(text);
  }

  void begin(int side, String step) {
    environment.host(side).begin(step);
  }

  static String name(int side) {
    return side == 0 ? "client" : "server";
  }

  private static String shortened(String text, int most) {
    return text.length() > most ? text.substring(0, most) + "…" : text;
  }

  void note(String event) {
    trail.add(event);
  }

  /** Returns the last steps, one a line. */
  String trail() {
    return String.join("\n", trail.subList(Math.max(0, trail.size() - SHOWN), trail.size()));
  }
}
