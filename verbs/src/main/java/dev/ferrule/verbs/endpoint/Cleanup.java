// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.endpoint;

import org.jspecify.annotations.Nullable;

/**
 * Gives up what something was made of, one after the other, whatever becomes of those before: a
 * device that is gone, or broken, refuses even that.
 */
public final class Cleanup {

  private static final System.Logger LOGGER = System.getLogger(Cleanup.class.getName());

  private Cleanup() {}

  /**
   * Closes things. What one of them throws is logged as a warning, for nobody can do anything about
   * it.
   *
   * @param resources what to close, in this order; those that are null were never made
   */
  public static void close(@Nullable AutoCloseable... resources) {
    for (AutoCloseable resource : resources) {
      if (resource != null) {
        close(resource);
      }
    }
  }

  private static void close(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Exception e) {
      LOGGER.log(System.Logger.Level.WARNING, "the device does not give something up", e);
    }
  }
}
