// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Aborts a measurement without progress. If a thread of the server has died, its client waits for
 * an answer although the connection is alive. Progress is the start of a round on any of the
 * connections.
 */
public final class Watchdog {

  /** The time for measuring threads to notice that their connections were closed. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final long MAX_CHECK_INTERVAL_NANOS = 1_000_000_000;
  private static final int CHECKS_PER_LIMIT = 4;

  private final Duration patience;
  private final Duration grace;
  private final LongSupplier clock;

  /**
   * Creates a watchdog.
   *
   * @param patience the time limit of a round, in addition to the time of its messages on a slow
   *     machine
   */
  public Watchdog(Duration patience) {
    this(patience, GRACE, System::nanoTime);
  }

  Watchdog(Duration patience, Duration grace, LongSupplier clock) {
    this.patience = patience;
    this.grace = grace;
    this.clock = clock;
  }

  /**
   * Measures in the calling thread, which another thread watches.
   *
   * @param <T> the type of the result
   * @param clients the connections that are measured; closed if there is no progress
   * @param work the measurement
   * @return its result
   * @throws ToolException if there was no progress
   */
  public <T> T watch(List<BenchClient> clients, Supplier<T> work) {
    Watch watch = new Watch(clients);
    watch.start();
    try {
      return work.get();
    } catch (RuntimeException | Error e) {
      if (watch.end()) {
        throw new ToolException(
            ExitCode.CONNECTION_LOST,
            "measurement aborted: no progress for more than "
                + patience.toSeconds()
                + " s: the server does not answer, although the connection is alive",
            e);
      }
      throw e;
    } finally {
      watch.end();
    }
  }

  private final class Watch extends Thread {
    private final List<BenchClient> clients;
    private final Thread worker = Thread.currentThread();
    private boolean ended; // guarded by this
    private boolean expired; // guarded by this
    private boolean interrupted; // guarded by this

    private Watch(List<BenchClient> clients) {
      super("ferrule-watchdog");
      this.clients = List.copyOf(clients);
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        if (awaitNoProgress()) {
          // in another thread, since closing may wait as well
          Thread.ofPlatform()
              .daemon()
              .name("ferrule-watchdog-close")
              .start(() -> clients.forEach(BenchClient::abort));
          interruptIfStuck();
        }
      } catch (InterruptedException e) {
        return; // cannot happen: nothing interrupts this thread
      }
    }

    private synchronized boolean awaitNoProgress() throws InterruptedException {
      long rounds = -1;
      long since = clock.getAsLong();
      long interval =
          Math.clamp(patience.toNanos() / CHECKS_PER_LIMIT, 1, MAX_CHECK_INTERVAL_NANOS);
      while (!ended) {
        long now = clock.getAsLong();
        long begun = clients.stream().mapToLong(BenchClient::rounds).sum();
        double limit = // a sum of longs could overflow
            patience.toNanos() + clients.stream().mapToDouble(BenchClient::roundNanos).sum();
        if (begun != rounds) {
          rounds = begun;
          since = clock.getAsLong(); // read last: a round that starts later is progress
        } else if (now - since > limit) {
          expired = true;
          return true;
        }
        TimeUnit.NANOSECONDS.timedWait(this, interval);
      }
      return false;
    }

    private synchronized void interruptIfStuck() throws InterruptedException {
      long end = System.nanoTime() + grace.toNanos();
      for (long left = grace.toNanos(); !ended && left > 0; left = end - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      if (!ended) {
        interrupted = true;
        worker.interrupt();
      }
    }

    /** Ends the watch; called by the measuring thread. Returns whether the limit had expired. */
    private synchronized boolean end() {
      if (!ended) {
        ended = true;
        notifyAll();
        if (interrupted) {
          Thread.interrupted(); // the interrupt was for the measurement only
        }
      }
      return expired;
    }
  }
}
