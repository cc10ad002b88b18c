// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

/** Which commit this was built from, as far as whoever starts the JVM says. */
public final class Commit {

  /** The system property that says so; {@code ./ferrule} of a checkout sets it. */
  public static final String PROPERTY = "ferrule.commit";

  private Commit() {}

  /**
   * Returns the commit.
   *
   * @return as git describes it; empty if nobody has said
   */
  public static String name() {
    return System.getProperty(PROPERTY, "");
  }
}
