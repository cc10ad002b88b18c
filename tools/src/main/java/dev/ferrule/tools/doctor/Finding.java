// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.Locale;

/**
 * What a check found.
 *
 * @param name what was looked at
 * @param status whether that is as it should be
 * @param text what was found, in one line
 * @param fix what to do about it; empty if there is nothing to be done
 */
public record Finding(String name, Status status, String text, String fix) {

  /** How a finding is to be taken. */
  public enum Status {
    /** As it should be. */
    OK,

    /** Works, but not as well as it could, or not for everything. */
    WARN,

    /** Not there. What needs it does not work. */
    MISSING;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
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
