// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

import dev.ferrule.FerruleException;
import dev.ferrule.peers.transport.Contender;
import dev.ferrule.peers.transport.Contenders;
import dev.ferrule.peers.transport.Listening;
import dev.ferrule.peers.transport.Transport;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.bench.Medians;
import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * The main class of both processes of a match. Each reads what to do from standard input, one
 * {@link Order} in a line, and ends when that ends; the server says at its start where it listens,
 * and the client answers each order by what it measured.
 */
final class Side {

  /** The first argument of the server's process; then a contender and an empty directory follow. */
  static final String SERVE = "serve";

  /** The first argument of the client's process; then a contender and an address follow. */
  static final String CONNECT = "connect";

  private static final double WAYS = 2;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double RANK = 0.99;

  private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
  private final PrintWriter out = new PrintWriter(System.out);
  private final Consumer<String> problems = problem -> System.err.println("ferrule: " + problem);

  private Side() {}

  /**
   * Runs one side.
   *
   * @param arguments {@link #SERVE} or {@link #CONNECT}, a contender's name, a directory or address
   */
  public static void main(String[] arguments) {
    Side side = new Side();
    try {
      if (arguments[0].equals(SERVE)) {
        side.serve(Contenders.named(arguments[1]), Path.of(arguments[2]));
      } else {
        side.connect(Contenders.named(arguments[1]), arguments[2]);
      }
    } catch (RuntimeException | Error e) {
      boolean expected = e instanceof FerruleException || e instanceof ToolException;
      side.problems.accept(expected ? e.getMessage() : arguments[1] + ": " + e);
      Runtime.getRuntime().halt(ExitCode.of(e));
    }
  }

  private void serve(Contender contender, Path directory) {
    Listening listening = contender.listen(directory, null);
    readOrders(() -> FreshAddress.remove(directory));
    ChildProcess.answer(out, listening.address());
    Transport transport = listening.accept();
    work(Pinning.onAllowedCpus().server(0), () -> serveOrders(transport));
  }

  private Object serveOrders(Transport transport) throws InterruptedException {
    while (true) {
      Order order = orders.take();
      switch (order.kind()) {
        case ONE_WAY -> Loops.echo(transport, order.count() + 1, order.size());
        case RATE -> Loops.sink(transport, order.count());
      }
    }
  }

  private void connect(Contender contender, String address) {
    Transport transport = contender.connect(address, null);
    readOrders(() -> {});
    work(Pinning.onAllowedCpus().client(0), () -> carryOutOrders(transport));
  }

  private Object carryOutOrders(Transport transport) throws InterruptedException {
    long sent = 0;
    while (true) {
      Order order = orders.take();
      long first = sent + 1;
      switch (order.kind()) {
        case ONE_WAY -> {
          int count = Math.toIntExact(order.count());
          long[] periods = new long[count];
          Loops.ping(transport, first, periods, count, order.size());
          sent += count + 1L;
          double median = Medians.ofPeriods(periods, count) / WAYS;
          Arrays.sort(periods);
          ChildProcess.answer(out, median + " " + periods[(int) (RANK * count)] / WAYS);
        }
        case RATE -> {
          long nanos = Loops.send(transport, first, order.count(), order.size());
          sent += order.count();
          ChildProcess.answer(out, Double.toString(order.count() * NANOS_PER_SECOND / nanos));
        }
      }
    }
  }

  private void work(OptionalInt cpu, Callable<Object> work) {
    Pinning.call(cpu, problems, work);
  }

  /**
   * Reads orders until the parent process ends, or wants this one to. Then nothing is closed, for
   * the other thread may be in the middle of a message, and memory that is unmapped under it would
   * crash the JVM.
   */
  private void readOrders(Runnable atEnd) {
    Thread reader =
        new Thread(
            () -> {
              try (BufferedReader in =
                  new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                  orders.add(Order.parse(line));
                }
                atEnd.run();
                Runtime.getRuntime().halt(ExitCode.OK);
              } catch (Throwable e) {
                problems.accept(e.toString());
                Runtime.getRuntime().halt(ExitCode.FAILED);
              }
            },
            "ferrule-orders");
    reader.setDaemon(true);
    reader.start();
  }
}
