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
 * Fails a measurement without progress: a server whose thread has died leaves its client waiting
 * for an answer, while the connection is alive. Progress is a round that begins on any of the
 * connections.
 */
public final class Watchdog {

  /** The time for measuring threads to notice that their connections were closed. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final long LONGEST_LOOK_NANOS = 1_000_000_000;
  private static final int LOOKS = 4;

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
   * Measures, in the calling thread, watched by another one.
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
            "measurement aborted: no progress for "
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
        if (awaitSilence()) {
          // not in this thread: closing may wait for what hangs
          Thread.ofPlatform()
              .daemon()
              .name("ferrule-watchdog-close")
              .start(() -> clients.forEach(BenchClient::abort));
          interruptIfStuck();
        }
      } catch (InterruptedException e) {
        return; // never interrupted
      }
    }

    private synchronized boolean awaitSilence() throws InterruptedException {
      long rounds = -1;
      long since = clock.getAsLong();
      long look = Math.clamp(patience.toNanos() / LOOKS, 1, LONGEST_LOOK_NANOS);
      while (!ended) {
        long now = clock.getAsLong();
        long begun = clients.stream().mapToLong(BenchClient::rounds).sum();
        double limit = // a sum of longs could overflow
            patience.toNanos() + clients.stream().mapToDouble(BenchClient::roundNanos).sum();
        if (begun != rounds) {
          rounds = begun;
          since = clock.getAsLong(); // after the look: rounds that have begun since count as well
        } else if (now - since > limit) {
          expired = true;
          return true;
        }
        TimeUnit.NANOSECONDS.timedWait(this, look);
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

    /** Ends the watch, in the measuring thread; returns whether it has expired. */
    private synchronized boolean end() {
      if (!ended) {
        ended = true;
        notifyAll();
        if (interrupted) {
          Thread.interrupted(); // meant for the measurement
        }
      }
      return expired;
    }
  }
}
