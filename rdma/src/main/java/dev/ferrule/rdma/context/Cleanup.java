// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Closes resources in order, even if closing one of them fails: a device that failed or is gone may
 * not release its objects.
 */
public final class Cleanup {

  private static final System.Logger LOGGER = System.getLogger(Cleanup.class.getName());

  private Cleanup() {}

  /**
   * Closes resources. Exceptions are logged as warnings, since no caller can handle them.
   *
   * @param resources the resources, in closing order; null for one that was not created
   */
  public static void close(@Nullable AutoCloseable... resources) {
    for (AutoCloseable resource : resources) {
      if (resource != null) {
        close(resource);
      }
    }
  }

  /**
   * Closes resources on a separate thread, and waits for it for a limited time. Some devices take
   * long: rdma_rxe destroys a queue pair only after the network stack has released its packets,
   * which takes seconds if the link is cut.
   *
   * @param timeoutNanos the maximum time to wait, in nanoseconds
   * @param resources the resources, in closing order; null for one that was not created
   */
  public static void closeAside(long timeoutNanos, @Nullable AutoCloseable... resources) {
    Thread closing;
    try {
      closing =
          Thread.ofPlatform().daemon().name("ferrule-rdma cleanup").start(() -> close(resources));
    } catch (OutOfMemoryError e) { // no thread can be created
      close(resources);
      return;
    }
    boolean interrupted = false;
    long end = System.nanoTime() + timeoutNanos;
    long left = timeoutNanos;
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
      LOGGER.log(System.Logger.Level.WARNING, "a resource of the device cannot be released", e);
    }
  }
}
