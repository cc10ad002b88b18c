// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Closes the connection to which a thread, which serves others as well, sends for too long: its
 * client does not receive what it asks for. That ends the send with an exception.
 */
final class StallGuard implements AutoCloseable {

  private final AtomicReference<@Nullable Connection> busy = new AtomicReference<>();
  private final AtomicLong begun = new AtomicLong();
  private final Consumer<Connection> onStall;
  private final ScheduledExecutorService checks =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread thread = new Thread(work, "ferrule-serve stalls");
            thread.setDaemon(true);
            return thread;
          });
  private long lastBegun = -1; // at the last check

  /**
   * Starts to guard one thread.
   *
   * @param limit how long a send may take, at least; twice as long at most
   * @param onStall is given a connection that has, before it is closed
   */
  StallGuard(Duration limit, Consumer<Connection> onStall) {
    this.onStall = onStall;
    checks.scheduleWithFixedDelay(
        this::check, limit.toNanos(), limit.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** The thread begins to send. */
  void begin(Connection connection) {
    begun.lazySet(begun.get() + 1);
    busy.lazySet(connection);
  }

  /** The thread has sent, or failed to. */
  void end() {
    busy.lazySet(null);
  }

  private void check() {
    Connection connection = busy.get();
    long now = begun.get();
    if (connection != null && now == lastBegun) {
      onStall.accept(connection);
      connection.close();
    }
    lastBegun = now;
  }

  @Override
  public void close() {
    checks.shutdownNow();
  }
}
