// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.endpoint;

import java.time.Duration;
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

  /**
   * Closes things on a thread of its own, and waits for a moment until that is done. For devices
   * that may take long: rdma_rxe does not destroy a queue pair before the network has let go of its
   * packets, which takes seconds over a wire that is cut.
   *
   * @param patienceNanos how long to wait at most
   * @param resources what to close, in this order; those that are null were never made
   */
  public static void closeAside(long patienceNanos, @Nullable AutoCloseable... resources) {
    Thread closing;
    try {
      closing =
          Thread.ofPlatform().daemon().name("ferrule-rdma cleanup").start(() -> close(resources));
    } catch (OutOfMemoryError e) { // no thread is to be had
      close(resources);
      return;
    }
    boolean interrupted = false;
    long end = System.nanoTime() + patienceNanos;
    long left = patienceNanos;
    while (closing.isAlive() && left > 0) {
      try {
        closing.join(Duration.ofNanos(left));
      } catch (InterruptedException e) {
        interrupted = true;
      }
      left = end - System.nanoTime();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
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
