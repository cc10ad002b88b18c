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
import java.util.function.ObjIntConsumer;

/**
 * The server side of the measurements, for any number of clients: with a thread for each of them,
 * or one for all.
 */
public final class BenchServer {

  /** Time limit for a thread to get a processor of its own. */
  private static final long SLOT_NANOS = 200_000_000;

  /** Time limit for a client to wait for the one before it to confirm. */
  private static final long TURN_NANOS = 500_000_000;

  private final Listener listener;
  private final WaitStrategy waitStrategy;
  private final Pinning pinning;
  private final ServerLimits limits;
  private final Consumer<String> problems;
  private volatile boolean isSingleReceiver;
  private final OneWayReports oneWays = new OneWayReports();
  private final BitSet busySlots = new BitSet(); // guarded by itself
  private boolean unpinnedReported; // guarded by busySlots
  private CountDownLatch lastArrival = new CountDownLatch(0); // of the accepting thread

  /**
   * Creates a server.
   *
   * @param listener accepts the clients
   * @param waitStrategy how the listener's connections wait
   * @param pinning the processors for the threads
   * @param limits limits the clients' requests
   * @param problems receives one line about each failure of a client; the others are still served
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

  /** Serves clients until the listener is closed, each by a thread of its own. */
  public void run() {
    accept(this::serve);
  }

  /**
   * Serves clients until the listener is closed, all of them by one thread.
   *
   * @throws RuntimeException if that thread fails, with the reason; all connections are closed then
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
            } catch (Throwable e) { // nothing is received any more: every client would hang
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
        problems.accept(describe(e)); // of this client only
      }
    }
  }

  /** Accepts a client in a thread of its own: a client that does not confirm delays no other. */
  private void admit(ConnectionRequest request, Consumer<Connection> server) {
    if (!limits.admit()) {
      problems.accept(
          request.peer() + " rejected: limit of " + limits.maxClients() + " clients reached");
      request.reject(CommandHandshake.BENCHMARK.full());
      return;
    }
    CountDownLatch before = lastArrival;
    CountDownLatch done = new CountDownLatch(1);
    boolean started = false;
    try {
      start(
          "ferrule-serve accept",
          () -> {
            try {
              accept(
                  request,
                  connection -> {
                    awaitTurn(before);
                    server.accept(connection);
                  });
            } catch (RuntimeException | OutOfMemoryError e) {
              problems.accept(describe(e));
            } finally {
              done.countDown();
            }
          });
      lastArrival = done;
      started = true;
    } finally {
      if (!started) {
        limits.left();
      }
    }
  }

  /**
   * Waits for the client before. Both sides choose processors by the order of connecting, but a
   * client that does not confirm must not delay the next for long.
   */
  private static void awaitTurn(CountDownLatch before) {
    try {
      boolean ignored = before.await(TURN_NANOS, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void accept(ConnectionRequest request, Consumer<Connection> server) {
    Optional<OneWayRequest> oneWay =
        CommandHandshake.BENCHMARK.more(request.payload()).flatMap(OneWayRequest::of);
    if (oneWay.isEmpty()) {
      accept(request, new byte[0], server);
    } else if (isSingleReceiver) {
      limits.left();
      request.reject(CommandHandshake.BENCHMARK.unable());
      problems.accept(
          request.peer()
              + " rejected: it times calls in one direction, which a server that receives by one"
              + " thread cannot");
    } else if (oneWay.get().report() == OneWayRequest.NONE) {
      CompletableFuture<List<OneWayReport>> reports = oneWays.begin(oneWay.get().measurement());
      accept(request, new byte[0], connection -> serveOneWay(connection, reports));
    } else {
      report(request, oneWay.get());
    }
  }

  /** Answers by the payload: the client closes the connection, which has no other purpose. */
  private void report(ConnectionRequest request, OneWayRequest wanted) {
    byte[] report;
    try {
      report = oneWays.get(wanted).toBytes();
    } catch (ToolException e) {
      limits.left();
      request.reject(CommandHandshake.BENCHMARK.unable());
      throw e;
    }
    accept(request, report, Connection::close);
  }

  private void accept(ConnectionRequest request, byte[] answer, Consumer<Connection> server) {
    boolean served = false;
    try {
      Optional<Connection> accepted = CommandHandshake.BENCHMARK.accept(request, answer, problems);
      if (accepted.isPresent()) {
        Connection connection = accepted.get();
        connection.onClose(closed -> limits.left());
        served = true;
        serve(connection, server);
      }
    } finally {
      if (!served) {
        limits.left();
      }
    }
  }

  /**
   * Serves a connection, or closes it if no thread can be started: its client would wait for ever.
   */
  private static void serve(Connection connection, Consumer<Connection> server) {
    try {
      server.accept(connection);
    } catch (Throwable e) {
      connection.close();
      throw e;
    }
  }

  private static String describe(Throwable failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  private void serveOneWay(Connection connection, CompletableFuture<List<OneWayReport>> reports) {
    serveByThread(
        connection,
        (own, slot) -> {
          try {
            Pinning.apply(cpu(slot), problems);
            reports.complete(new OneWaySession(own, waitStrategy, limits).run());
          } catch (RuntimeException e) {
            reports.completeExceptionally(e);
            throw e;
          }
        });
  }

  private void serve(Connection connection) {
    serveByThread(connection, this::serve);
  }

  /** Serves a connection by a thread of its own. */
  private void serveByThread(Connection connection, ObjIntConsumer<Connection> server) {
    int slot = takeSlot(); // while it is this client's turn
    boolean started = false;
    try {
      start(
          "ferrule-serve",
          () -> {
            try (Guarded<Connection> guarded = Guarded.of(connection)) {
              server.accept(guarded.get(), slot);
            } catch (RuntimeException e) {
              if (!Guarded.exiting()) {
                problems.accept(describe(e));
              }
            } finally {
              freeSlot(slot);
            }
          });
      started = true;
    } finally {
      if (!started) {
        freeSlot(slot);
      }
    }
  }

  private void serve(Connection connection, int slot) {
    try (Session session = new Session(connection, connection.receiver(), waitStrategy, limits)) {
      Pinning.apply(cpu(slot), problems);
      session.run();
    }
  }

  /**
   * Waits for a free slot. A client that measures repeatedly closes one connection and makes the
   * next, whose thread must not go unpinned because the previous one has not quite ended.
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
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }
}
