// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Listener;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Handshake;
import dev.ferrule.tools.support.ToolException;
import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The other side of the measurements: any number of clients, each with a thread of its own, or all
 * of them with one.
 */
public final class BenchServer {

  /** How long a thread waits for a processor before it does without. */
  private static final long SLOT_NANOS = 200_000_000;

  /** How long a client waits for its turn behind one that has not confirmed. */
  private static final long TURN_NANOS = 500_000_000;

  private final Listener listener;
  private final WaitStrategy waitStrategy;
  private final Pinning pinning;
  private final ServerLimits limits;
  private final Consumer<String> problems;
  private final BitSet busySlots = new BitSet(); // guarded by itself
  private boolean toldOfCrowd; // guarded by busySlots
  private CountDownLatch lastArrival = new CountDownLatch(0); // of the accepting thread

  /**
   * Creates a server.
   *
   * @param listener where the clients come from
   * @param waitStrategy how the listener's connections wait
   * @param pinning which processors the threads may stay on
   * @param limits what the clients may ask for
   * @param problems is told in one line what goes wrong with a client; the others are served on
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

  /** Serves clients until the listener is closed, each in a thread of its own. */
  public void run() {
    accept(this::serve);
  }

  /**
   * Serves clients until the listener is closed, all of them in one thread.
   *
   * @throws RuntimeException if that thread fails, with the reason; all connections are closed then
   */
  public void runSingleReceiver() {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (Dispatcher dispatcher = new Dispatcher(listener.receiver(), limits, problems)) {
      OptionalInt cpu = pinning.server(0);
      start(
          "ferrule-serve",
          () -> {
            try {
              Pinning.apply(cpu, problems);
              dispatcher.run();
            } catch (Throwable e) { // nothing is received any more, so that every client would hang
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
      } catch (RuntimeException | InternalError | OutOfMemoryError e) {
        problems.accept(describe(e)); // of this client; the next one may do better
      }
    }
  }

  /** Accepts a client in a thread of its own: one that does not confirm delays no other. */
  private void admit(ConnectionRequest request, Consumer<Connection> server) {
    if (!limits.admit()) {
      problems.accept(
          request.peer() + " was rejected: " + ServerLimits.MAX_CLIENTS + " are served");
      request.reject(Handshake.BENCHMARK.full());
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
            } catch (RuntimeException | InternalError | OutOfMemoryError e) {
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
   * Clients are served in the order in which they come, by which both sides choose processors, but
   * none waits long for one that does not confirm.
   */
  private static void awaitTurn(CountDownLatch before) {
    try {
      boolean ignored = before.await(TURN_NANOS, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void accept(ConnectionRequest request, Consumer<Connection> server) {
    boolean served = false;
    try {
      Optional<Connection> accepted = Handshake.BENCHMARK.accept(request, problems);
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

  /** Has a connection served, or closes it: without a thread its client would wait for ever. */
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

  private void serve(Connection connection) {
    int slot = takeSlot(); // while it is this client's turn
    boolean started = false;
    try {
      start(
          "ferrule-serve",
          () -> {
            try (Guarded<Connection> guarded = Guarded.of(connection)) {
              serve(guarded.get(), slot);
            } catch (RuntimeException | InternalError e) { // the latter: it truncated its files
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
   * Whoever measures again and again closes one connection and makes the next, whose thread is not
   * to go without a processor because that of the last has not quite ended.
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
      if (cpu.isPresent() || pinning == Pinning.OFF || toldOfCrowd) {
        return cpu;
      }
      toldOfCrowd = true;
    }
    problems.accept(
        "connections beyond the "
            + slot
            + " that have a CPU each are served by threads that are not pinned");
    return cpu;
  }

  private static void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }
}
