// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The threads that send on several connections concurrently. The connections are distributed
 * round-robin, and the thread that calls {@link #round} is one of the senders.
 */
public final class SenderThreads implements AutoCloseable {

  private final List<BenchClient> clients;
  private final int threads;
  private final List<ExecutorService> helpers = new ArrayList<>();

  /**
   * Starts the threads.
   *
   * @param clients the connections to send on; the caller closes them
   * @param threads the number of sending threads; at most the number of connections
   * @param pinning the processors for the threads; the caller pins the calling one
   * @param problems receives one line if the system refuses
   */
  public SenderThreads(
      List<BenchClient> clients, int threads, Pinning pinning, Consumer<String> problems) {
    if (threads < 1 || threads > clients.size()) {
      throw new IllegalArgumentException(threads + " threads for " + clients.size() + " clients");
    }
    this.clients = List.copyOf(clients);
    this.threads = threads;
    for (int i = 1; i < threads; i++) {
      int index = i;
      ThreadFactory daemons = Thread.ofPlatform().daemon().name("ferrule-bench-" + i).factory();
      helpers.add(
          Executors.newSingleThreadExecutor(work ->
              daemons.newThread(() -> {
                try {
                  Pinning.apply(pinning.client(index), problems);
                } catch (RuntimeException e) { // the thread must send nevertheless
                  problems.accept("sending thread not pinned: " + e.getMessage());
                }
                work.run();
              })));
    }
  }

  /** {@return the first connection, for measurements on one only} */
  public BenchClient first() {
    return clients.get(0);
  }

  /** Returns the connections. */
  List<BenchClient> clients() {
    return clients;
  }

  /** Creates one throughput for each connection, in their order. */
  List<Throughput> throughputs(Arena arena, int size, Throughput.Flow flow) {
    return clients.stream().map(client -> new Throughput(client, arena, size, flow)).toList();
  }

  /** Returns the number of sending threads. */
  int threads() {
    return threads;
  }

  /**
   * Sends {@code count} messages on each connection. Returns the nanoseconds from the time when the
   * round's parameters have been sent on all connections and all threads are ready, to the time
   * when the server has confirmed the last message of all connections.
   */
  long round(List<Throughput> throughputs, long count) {
    return throughputs.size() == 1 && threads == 1
        ? throughputs.get(0).round(count)
        : new ConcurrentRound(throughputs, count, Long.MAX_VALUE, false).run().nanos();
  }

  /**
   * Sends on all connections for a given time, but at most {@code most} messages on each. The
   * numbers of messages of two threads may differ.
   */
  Measured roundUntil(long limitNanos, List<Throughput> throughputs, long most) {
    return new ConcurrentRound(throughputs, most, limitNanos, true).run();
  }

  /** One round on several connections. */
  private final class ConcurrentRound {
    private final List<Throughput> throughputs;
    private final long most; // on each connection
    private final long limitNanos;
    private final boolean timed; // whether the client ends the round
    private final AtomicLong messages = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final Phaser ready =
        new Phaser(threads) {
          @Override
          protected boolean onAdvance(int phase, int registered) {
            startNanos = System.nanoTime(); // before any thread proceeds
            return false;
          }
        };
    private long startNanos; // ordered by the phaser

    private ConcurrentRound(
        List<Throughput> throughputs, long most, long limitNanos, boolean timed) {
      this.throughputs = throughputs;
      this.most = most;
      this.limitNanos = limitNanos;
      this.timed = timed;
    }

    private Measured run() {
      List<Future<Long>> ends = new ArrayList<>();
      for (int i = 1; i < threads; i++) {
        int index = i;
        ends.add(helpers.get(i - 1).submit(() -> share(index)));
      }
      long end = share(0);
      for (Future<Long> other : ends) {
        end = Math.max(end, result(other));
      }
      throwFailure(failure.get());
      return new Measured(messages.get(), end - startNanos);
    }

    /** Sends on the connections of one thread; returns the time when that ended. */
    private long share(int index) {
      try {
        List<Throughput> assigned = new ArrayList<>();
        for (int i = index; i < throughputs.size(); i += threads) {
          assigned.add(throughputs.get(i));
        }
        Throughput[] own = assigned.toArray(Throughput[]::new);
        for (Throughput throughput : own) {
          throughput.start(timed ? Round.UNTIL_END : most);
        }
        if (ready.arriveAndAwaitAdvance() < 0) {
          return 0; // another thread has failed
        }
        long count = most;
        if (timed) {
          count = sendUntilLimit(own);
          for (Throughput throughput : own) {
            throughput.end();
          }
        } else {
          sendRoundRobin(own, 0, most);
        }
        for (Throughput throughput : own) {
          throughput.finish(count);
        }
        messages.addAndGet(count * own.length);
        return System.nanoTime();
      } catch (RuntimeException | Error e) {
        abort(e);
        return 0;
      }
    }

    /** Sends until the limit. Returns the number of messages on each of the connections. */
    private long sendUntilLimit(Throughput[] own) {
      Slices slices = new Slices();
      long atOnce = own[0].messagesAtOnce();
      long sent = 0;
      for (long nanos = 0; nanos < limitNanos && sent < most; ) {
        long slice = Math.ceilDiv(slices.next(limitNanos - nanos), atOnce) * atOnce;
        long to = sent + Math.min(slice, most - sent);
        sendRoundRobin(own, sent, to);
        long now = System.nanoTime() - startNanos;
        slices.add(to - sent, now - nanos);
        sent = to;
        nanos = now;
      }
      return sent;
    }

    private void sendRoundRobin(Throughput[] own, long begin, long end) {
      long turn = own.length == 1 ? Math.max(1, end - begin) : own[0].messagesPerTurn();
      for (long from = begin; from < end; from += turn) {
        long to = Math.min(from + turn, end);
        for (Throughput throughput : own) {
          throughput.send(from, to);
        }
      }
    }

    /** Keeps the first failure, and ends the waits of all other threads. */
    private void abort(Throwable cause) {
      if (failure.compareAndSet(null, cause)) {
        clients.forEach(BenchClient::abort);
        ready.forceTermination();
      }
    }

    private long result(Future<Long> share) {
      boolean interrupted = false;
      try {
        while (true) {
          try {
            return share.get();
          } catch (InterruptedException e) {
            interrupted = true;
            abort(new IllegalStateException("interrupted", e));
          }
        }
      } catch (ExecutionException | CancellationException e) {
        throw new IllegalStateException(e); // share() catches every exception
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private static void throwFailure(@Nullable Throwable failure) {
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
  }

  /** Ends the threads, which are idle between two rounds. */
  @Override
  public void close() {
    helpers.forEach(ExecutorService::shutdown);
  }
}
