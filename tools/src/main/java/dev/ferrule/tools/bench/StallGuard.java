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
 * Closes a connection on which a send takes too long because its client does not receive, since the
 * sending thread also serves other clients. Closing ends the send with an exception.
 */
final class StallGuard implements AutoCloseable {

  private final AtomicReference<@Nullable Connection> busy = new AtomicReference<>();
  private final AtomicLong begun = new AtomicLong();
  private final Consumer<Connection> onStall;
  private final ScheduledExecutorService checks =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("ferrule-serve stalls").factory());
  private long lastBegun = -1; // at the last check

  /** Starts to guard one thread. A send is ended between one and two limits after its start. */
  StallGuard(Duration limit, Consumer<Connection> onStall) {
    this.onStall = onStall;
    checks.scheduleWithFixedDelay(
        this::check, limit.toNanos(), limit.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Marks the start of a send. */
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
