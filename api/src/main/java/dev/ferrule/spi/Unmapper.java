// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.lang.foreign.Arena;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Closes the arenas of connections, for providers. That fails while some thread has the memory in a
 * system call (a received message on its way to a file, say); such an arena is tried again until
 * that call is over, so that closing a connection neither fails nor blocks.
 */
public final class Unmapper {

  private static final long RETRY_MS = 10;

  /** Only made when it is needed, which is hardly ever. */
  private static final class Later {
    static final ScheduledExecutorService EXECUTOR =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("ferrule unmapper").factory());
  }

  private Unmapper() {}

  /**
   * Closes an arena, now or as soon as that is possible. Closing it twice does nothing.
   *
   * @param arena a shared arena
   */
  public static void close(Arena arena) {
    try {
      arena.close();
    } catch (IllegalStateException e) {
      if (!arena.scope().isAlive()) {
        return;
      }
      Later.EXECUTOR.schedule(() -> close(arena), RETRY_MS, TimeUnit.MILLISECONDS);
    }
  }
}
