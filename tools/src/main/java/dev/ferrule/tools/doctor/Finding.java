// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The result of a check.
 *
 * @param name what was checked
 * @param status the status
 * @param text the finding, in one line
 * @param fix how to fix it; empty if nothing needs to be done
 */
public record Finding(String name, Status status, String text, String fix) {

  /** The status of a finding. */
  public enum Status {
    /** Works. */
    OK,

    /** Works with limitations. */
    WARN,

    /** Missing. What needs it does not work. */
    MISSING;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** {@return the line of the finding and, if there is a fix, a line with it} */
  public List<String> lines() {
    List<String> lines = new ArrayList<>(List.of(line(status.toString(), name, text)));
    if (!fix.isEmpty()) {
      lines.add(line("", "", "fix: " + fix));
    }
    return lines;
  }

  /** Returns a line with three columns. */
  static String line(String status, String name, String text) {
    return String.format("%-7s  %-18s  %s", status, name, text);
  }

  static Finding ok(String name, String text) {
    return new Finding(name, Status.OK, text, "");
  }

  static Finding warn(String name, String text, String fix) {
    return new Finding(name, Status.WARN, text, fix);
  }

  static Finding missing(String name, String text, String fix) {
    return new Finding(name, Status.MISSING, text, fix);
  }
}
