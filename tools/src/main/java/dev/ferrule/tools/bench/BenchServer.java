// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Listener;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.CommandHandshake;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.ToolException;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The server side of the measurements, for several clients, with one thread for each of them or one
 * for all.
 */
public final class BenchServer {

  /** How long a new client waits for a slot whose thread can be pinned. */
  private static final long SLOT_NANOS = 200_000_000;

  /** How long a client waits until the previous one has confirmed its connection. */
  private static final long CONFIRMATION_NANOS = 500_000_000;

  private final Listener listener;
  private final WaitStrategy waitStrategy;
  private final Pinning pinning;
  private final ServerLimits limits;
  private final Consumer<String> problems;
  private volatile boolean isSingleReceiver;
  private final OneWayReports oneWays = new OneWayReports();
  private final BitSet busySlots = new BitSet(); // guarded by itself
  private boolean unpinnedReported; // guarded by busySlots
  private CountDownLatch lastAccept = new CountDownLatch(0); // of the accepting thread

  /**
   * Creates a server.
   *
   * @param listener accepts the clients
   * @param waitStrategy the wait strategy of the listener's connections
   * @param pinning the processors to which the threads are pinned
   * @param limits the limits of the clients' requests
   * @param problems receives one line for each failure of a client; the other clients are still
   *     served
   */
  public BenchServer(
      Listener listener,
      WaitStrategy waitStrategy,
      Pinning pinning,
      ServerLimits limits,
      Consumer<String> problems) {
    this.listener = listener;
    this.waitStrategy = waitStrategy;
    this.pinning = pinning;
    this.limits = limits;
    this.problems = problems;
  }

  /** Serves clients until the listener is closed, each in its own thread. */
  public void run() {
    accept(this::serve);
  }

  /**
   * Serves clients until the listener is closed, all of them in one thread.
   *
   * @throws RuntimeException with the reason if that thread fails; all connections are then closed
   */
  public void runSingleReceiver() {
    isSingleReceiver = true;
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (Dispatcher dispatcher = new Dispatcher(listener.receiver(), limits, problems)) {
      OptionalInt cpu = pinning.server(0);
      start(
          "ferrule-serve",
          () -> {
            try {
              Pinning.apply(cpu, problems);
              dispatcher.run();
            } catch (Throwable e) { // otherwise every client would wait forever
              failure.set(e);
              listener.close();
            }
          });
      accept(dispatcher::add);
    }
    Throwable cause = failure.get();
    if (cause != null && !Guarded.exiting()) {
      throw new ToolException(
          ExitCode.FAILED, "the thread that receives from all clients has failed: " + cause, cause);
    }
  }

  private void accept(Consumer<Connection> server) {
    while (true) {
      ConnectionRequest request;
      try {
        request = listener.nextRequest();
      } catch (ConnectionClosedException e) {
        return;
      }
      try {
        admit(request, server);
      } catch (RuntimeException | OutOfMemoryError e) {
        problems.accept(Problems.reason(e)); // affects this client only
      }
    }
  }

  /** Accepts a client in its own thread, so that one that does not confirm delays no other. */
  private void admit(ConnectionRequest request, Consumer<Connection> server) {
    if (!limits.admit()) {
      problems.accept(
          request.peer() + " rejected: limit of " + limits.maxClients() + " clients reached");
      request.reject(CommandHandshake.BENCHMARK.full());
      return;
    }
    CountDownLatch previous = lastAccept;
    CountDownLatch done = new CountDownLatch(1);
    try {
      start(
          "ferrule-serve accept",
          () -> {
            boolean served = false;
            try {
              served =
                  accept(
                      request,
                      connection -> {
                        awaitPrevious(previous);
                        server.accept(connection);
                      });
            } catch (RuntimeException | OutOfMemoryError e) {
              problems.accept(Problems.reason(e));
            } finally {
              if (!served) {
                limits.removeClient();
              }
              done.countDown();
            }
          });
      lastAccept = done;
    } catch (Throwable e) {
      limits.removeClient();
      throw e;
    }
  }

  /**
   * Waits until the previous client has been accepted or has failed, since both sides choose
   * processors in the order of connecting. The wait is limited: a client that does not confirm must
   * not delay the next one for long.
   */
  private static void awaitPrevious(CountDownLatch previous) {
    try {
      boolean ignored = previous.await(CONFIRMATION_NANOS, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Accepts and serves a client; returns false if it was not accepted. When the connection of an
   * accepted client closes, the client is removed from the limits.
   */
  private boolean accept(ConnectionRequest request, Consumer<Connection> server) {
    Optional<OneWayRequest> oneWay =
        CommandHandshake.BENCHMARK.more(request.payload()).flatMap(OneWayRequest::of);
    if (oneWay.isEmpty()) {
      return serve(request, server);
    }
    if (isSingleReceiver) {
      request.reject(CommandHandshake.BENCHMARK.unable());
      problems.accept(
          request.peer()
              + " rejected: it measures calls in one direction, which needs a thread for each"
              + " connection, but this server receives in one thread");
      return false;
    }
    if (oneWay.get().report() == OneWayRequest.NONE) {
      CompletableFuture<List<OneWayReport>> reports = oneWays.begin(oneWay.get().measurement());
      return serve(request, connection -> serve(connection, reports));
    }
    byte[] report;
    try {
      report = oneWays.get(oneWay.get()).toBytes();
    } catch (ToolException e) {
      request.reject(CommandHandshake.BENCHMARK.unable());
      throw e;
    }
    // The accept payload carries the report; the connection has no other purpose.
    return serve(request, Connection::close, report);
  }

  private boolean serve(ConnectionRequest request, Consumer<Connection> server, byte... answer) {
    Optional<Connection> accepted = CommandHandshake.BENCHMARK.accept(request, problems, answer);
    accepted.ifPresent(connection -> {
      connection.onClose(closed -> limits.removeClient());
      try {
        server.accept(connection);
      } catch (Throwable e) { // without a thread, its client would wait forever
        connection.close();
        problems.accept(Problems.reason(e));
      }
    });
    return accepted.isPresent();
  }

  private void serve(Connection connection) {
    serve(connection, null);
  }

  /**
   * Serves a connection in its own thread.
   *
   * @param reports receives the reports of a one-way connection; null for a connection in both
   *     directions
   */
  private void serve(
      Connection connection, @Nullable CompletableFuture<List<OneWayReport>> reports) {
    int slot = takeSlot(); // in the order of connecting
    try {
      start(
          "ferrule-serve",
          () -> {
            try (Guarded<Connection> guarded = Guarded.of(connection)) {
              serve(guarded.get(), slot, reports);
            } catch (RuntimeException e) {
              if (!Guarded.exiting()) {
                problems.accept(Problems.reason(e));
              }
            } finally {
              freeSlot(slot);
            }
          });
    } catch (Throwable e) {
      freeSlot(slot);
      throw e;
    }
  }

  private void serve(
      Connection connection, int slot, @Nullable CompletableFuture<List<OneWayReport>> reports) {
    try (Session session = new Session(connection, reports != null, waitStrategy, limits)) {
      Pinning.apply(cpu(slot), problems);
      List<OneWayReport> done = session.run();
      if (reports != null) {
        reports.complete(done);
      }
    } catch (RuntimeException e) {
      if (reports != null) {
        reports.completeExceptionally(e);
      }
      throw e;
    }
  }

  /**
   * Takes the first free slot. If no processor is left for it, first waits a moment for another
   * one: a client that measures repeatedly closes one connection and opens the next, whose thread
   * must be pinned although the previous thread may not have ended.
   */
  private int takeSlot() {
    long end = System.nanoTime() + SLOT_NANOS;
    synchronized (busySlots) {
      int slot = busySlots.nextClearBit(0);
      long left = SLOT_NANOS;
      while (pinning != Pinning.OFF && pinning.server(slot).isEmpty() && left > 0) {
        try {
          TimeUnit.NANOSECONDS.timedWait(busySlots, left);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          break;
        }
        slot = busySlots.nextClearBit(0);
        left = end - System.nanoTime();
      }
      busySlots.set(slot);
      return slot;
    }
  }

  private void freeSlot(int slot) {
    synchronized (busySlots) {
      busySlots.clear(slot);
      busySlots.notifyAll();
    }
  }

  private OptionalInt cpu(int slot) {
    OptionalInt cpu = pinning.server(slot);
    synchronized (busySlots) {
      if (cpu.isPresent() || pinning == Pinning.OFF || unpinnedReported) {
        return cpu;
      }
      unpinnedReported = true;
    }
    problems.accept(
        "threads of connections beyond the first " + slot + " are not pinned: no CPU is left");
    return cpu;
  }

  private static void start(String name, Runnable work) {
    Thread.ofPlatform().daemon().name(name).start(work);
  }
}
