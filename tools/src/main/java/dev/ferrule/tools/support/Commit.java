// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** The commit from which Ferrule was built. */
public final class Commit {

  /**
   * The system property with the commit. {@code ./ferrule} in a checkout sets it, since the jar is
   * not rebuilt after a commit that changes none of its sources.
   */
  public static final String PROPERTY = "ferrule.commit";

  /** The file written by the build. */
  private static final String RESOURCE = "commit.txt";

  private Commit() {}

  /**
   * {@return the commit's hash, with {@code -dirty} if the sources differed from it; empty if the
   * build was not in a checkout}
   */
  public static String name() {
    String property = System.getProperty(PROPERTY, "");
    return property.isEmpty() ? built() : property;
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
