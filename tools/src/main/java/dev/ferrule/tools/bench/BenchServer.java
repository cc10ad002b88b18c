// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Handshake;
import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * The other side of the measurements: any number of clients, each with a thread of its own, or all
 * of them with one.
 */
public final class BenchServer {

  private final Listener listener;
  private final WaitStrategy waitStrategy;
  private final Pinning pinning;
  private final Consumer<String> problems;
  private final BitSet busySlots = new BitSet(); // guarded by itself
  private boolean toldOfCrowd;

  /**
   * Creates a server.
   *
   * @param listener where the clients come from
   * @param waitStrategy how the listener's connections wait
   * @param pinning which processors the threads may stay on
   * @param problems is told in one line what goes wrong with a client; the others are served on
   */
  public BenchServer(
      Listener listener, WaitStrategy waitStrategy, Pinning pinning, Consumer<String> problems) {
    this.listener = listener;
    this.waitStrategy = waitStrategy;
    this.pinning = pinning;
    this.problems = problems;
  }

  /** Serves clients until the listener is closed, each in a thread of its own. */
  public void run() {
    accept(this::serve);
  }

  /** Serves clients until the listener is closed, all of them in one thread. */
  public void runSingleReceiver() {
    try (Dispatcher dispatcher = new Dispatcher(listener.receiver(), problems)) {
      OptionalInt cpu = pinning.server(0);
      start(
          "ferrule-serve",
          () -> {
            Pinning.apply(cpu, problems);
            dispatcher.run();
          });
      accept(dispatcher::add);
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
        Optional<Connection> connection = Handshake.BENCHMARK.accept(request, problems);
        connection.ifPresent(server);
      } catch (FerruleException e) { // of this client; the next one may do better
        problems.accept(e.getMessage());
      }
    }
  }

  private void serve(Connection connection) {
    int slot;
    synchronized (busySlots) {
      slot = busySlots.nextClearBit(0);
      busySlots.set(slot);
    }
    OptionalInt cpu = pinning.server(slot);
    if (cpu.isEmpty() && pinning != Pinning.OFF && !toldOfCrowd) {
      toldOfCrowd = true;
      problems.accept(
          "connections beyond the "
              + slot
              + " that have a CPU each are served by threads that are not pinned");
    }
    start(
        "ferrule-serve-" + slot,
        () -> {
          try (Guarded<Connection> guarded = Guarded.of(connection);
              Session session = new Session(guarded.get(), connection.receiver(), waitStrategy)) {
            Pinning.apply(cpu, problems);
            session.run();
          } catch (RuntimeException | InternalError e) { // the latter: it truncated its files
            if (!Guarded.exiting()) {
              problems.accept(e.getMessage() == null ? e.toString() : e.getMessage());
            }
          } finally {
            synchronized (busySlots) {
              busySlots.clear(slot);
            }
          }
        });
  }

  private static void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }
}
