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
 * Closes a connection on which a send takes too long, because its client does not receive: the
 * sending thread serves other clients, too. Closing ends the send with an exception.
 */
final class StallGuard implements AutoCloseable {

  private final AtomicReference<@Nullable Connection> busy = new AtomicReference<>();
  private final AtomicLong begun = new AtomicLong();
  private final Consumer<Connection> onStall;
  private final ScheduledExecutorService checks =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "ferrule-serve stalls");
        thread.setDaemon(true);
        return thread;
      });
  private long lastBegun = -1; // at the last check

  /**
   * Starts to guard one thread.
   *
   * @param limit the time limit of a send, which takes effect after at most twice that time
   * @param onStall receives a stalled connection before it is closed
   */
  StallGuard(Duration limit, Consumer<Connection> onStall) {
    this.onStall = onStall;
    checks.scheduleWithFixedDelay(
        this::check, limit.toNanos(), limit.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Marks the begin of a send. */
  void begin(Connection connection) {
    begun.lazySet(begun.get() + 1);
    busy.lazySet(connection);
  }

  /** Marks the end of a send, successful or not. */
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
