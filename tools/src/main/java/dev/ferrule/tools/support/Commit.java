// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Which commit this was built from. */
public final class Commit {

  /**
   * The system property that says so; {@code ./ferrule} of a checkout sets it, since its jar may be
   * from before commits that change no source of it.
   */
  public static final String PROPERTY = "ferrule.commit";

  /** A file that the build writes. */
  private static final String RESOURCE = "commit.txt";

  private Commit() {}

  /**
   * Returns the commit.
   *
   * @return its hash, with {@code -dirty} if the sources differed from it; empty if it was not
   *     built in a checkout
   */
  public static String name() {
    String said = System.getProperty(PROPERTY, "");
    return said.isEmpty() ? built() : said;
  }

  private static String built() {
    try (InputStream resource = Commit.class.getResourceAsStream(RESOURCE)) {
      return resource == null
          ? ""
          : new String(resource.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
