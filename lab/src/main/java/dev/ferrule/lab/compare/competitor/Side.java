// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.FerruleException;
import dev.ferrule.lab.compare.transport.Listening;
import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.lab.compare.transport.Transport;
import dev.ferrule.lab.compare.transport.TransportUnderTest;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.bench.Medians;
import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.support.Affinity;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * The main class of both sides' processes. Each reads orders from standard input, one {@link Order}
 * per line, and exits at the end of the input. The server first reports its address. Both answer
 * each executed order, the client with its measurement.
 */
final class Side {

  /** The role of the server's process, which gets an empty directory. */
  static final String SERVE = "serve";

  /** The role of the client's process, which gets the server's address. */
  static final String CONNECT = "connect";

  /** The role of a process that is both, which gets a directory. */
  static final String SERVE_AND_CONNECT = "serve-and-connect";

  private static final String DONE = "done";
  private static final double WAYS = 2;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MEDIAN = 0.5;
  private static final double P99 = 0.99;

  private final TransportUnderTest underTest;
  private final Mode mode;
  private final Pinning pinning = Pinning.onAllowedCpus(); // determined before any thread is pinned
  private final PrintWriter out = new PrintWriter(System.out);
  private final Consumer<String> problems = problem -> System.err.println("ferrule: " + problem);

  private Side(TransportUnderTest underTest, Mode mode) {
    this.underTest = underTest;
    this.mode = mode;
  }

  /**
   * Runs one side; the arguments are a role, a transport's name, a mode, and a directory or
   * address.
   */
  public static void main(String[] arguments) {
    Side side = new Side(TransportsUnderTest.named(arguments[1]), Mode.valueOf(arguments[2]));
    String where = arguments[3];
    side.guard(() -> {
      switch (arguments[0]) {
        case SERVE -> side.serve(Path.of(where));
        case CONNECT -> side.connect(where);
        case SERVE_AND_CONNECT -> side.serveAndConnect(Path.of(where));
        default -> throw new IllegalArgumentException("unknown role " + arguments[0]);
      }
    });
  }

  /** Runs some work, and ends the process if that fails. */
  private void guard(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      boolean expected = e instanceof FerruleException || e instanceof ToolException;
      problems.accept(expected ? e.getMessage() : underTest.name() + ": " + e);
      Runtime.getRuntime().halt(ExitCode.of(e));
    }
  }

  private void serve(Path directory) {
    BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    Listening listening = underTest.listen(mode, directory, null);
    readOrders(List.of(orders), () -> FreshAddress.remove(directory));
    ChildProcess.answer(out, listening.address());
    Transport transport = listening.accept();
    work(
        pinning.server(0),
        () -> serveOrders(orders, listening, transport, () -> ChildProcess.answer(out, DONE)));
  }

  private void connect(String address) {
    BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    Transport transport = underTest.connect(mode, address, null);
    readOrders(List.of(orders), () -> {});
    work(pinning.client(0), () -> measureOrders(orders, transport));
  }

  private void serveAndConnect(Path directory) {
    BlockingQueue<Order> ofServer = new LinkedBlockingQueue<>();
    BlockingQueue<Order> ofClient = new LinkedBlockingQueue<>();
    Listening listening = underTest.listen(mode, directory, null);
    Transport server = listening.accept();
    Transport client = underTest.connect(mode, listening.address(), null);
    readOrders(List.of(ofServer, ofClient), () -> FreshAddress.remove(directory));
    Thread.ofPlatform()
        .daemon()
        .start(() ->
            guard(() ->
                work(pinning.server(0), () -> serveOrders(ofServer, listening, server, () -> {}))));
    ChildProcess.answer(out, listening.address());
    work(pinning.client(0), () -> measureOrders(ofClient, client));
  }

  private static Object serveOrders(
      BlockingQueue<Order> orders, Listening listening, Transport transport, Runnable done)
      throws InterruptedException {
    while (true) {
      listening.pause();
      Order order = orders.take();
      listening.resume();
      Measure measure = order.measure();
      if (measure == Measure.LATENCY) {
        Loops.echo(transport, order.count() + 1L, order.size());
      } else if (measure == Measure.WAKE_UP) {
        Loops.blockingEcho(transport, order.count(), order.size());
      } else if (measure.mode() == Mode.SEVERAL_SENDERS) {
        Loops.sinkOfSeveral(transport, each(order) * measure.senders(), System::nanoTime);
      } else {
        Loops.sink(transport, order.count(), System::nanoTime);
      }
      done.run();
    }
  }

  private static long each(Order order) {
    return Math.max(1, order.count() / order.measure().senders());
  }

  private Object measureOrders(BlockingQueue<Order> orders, Transport transport)
      throws InterruptedException {
    long sent = 0;
    while (true) {
      Order order = orders.take();
      Measure measure = order.measure();
      int count = order.count();
      int size = order.size();
      long first = sent + 1;
      if (measure == Measure.LATENCY) {
        long[] periods = new long[count];
        Loops.ping(transport, first, periods, count, size);
        sent += count + 1L;
        double median = Medians.ofPeriods(periods, count) / WAYS;
        answer(median, percentile(periods, P99) / WAYS);
      } else if (measure == Measure.WAKE_UP) {
        long[] oneWay = new long[count];
        Loops.wakeUp(transport, first, oneWay, size);
        sent += count;
        answer(percentile(oneWay, MEDIAN), percentile(oneWay, P99));
      } else if (measure.mode() == Mode.SEVERAL_SENDERS) {
        long each = each(order);
        int senders = measure.senders();
        answerRate(
            each * senders, Loops.sendFromSeveral(transport, senders, each, size, this::pinSender));
      } else {
        long nanos =
            measure.batch() == 1
                ? Loops.send(transport, first, count, size)
                : Loops.sendBatches(transport, first, count, measure.batch(), size);
        sent += count;
        answerRate(count, nanos);
      }
    }
  }

  private static double percentile(long[] nanos, double rank) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    return sorted[(int) (rank * sorted.length)];
  }

  private void answer(double median, double p99) {
    ChildProcess.answer(out, median + " " + p99);
  }

  private void answerRate(long count, long nanos) {
    ChildProcess.answer(out, Double.toString(count * NANOS_PER_SECOND / nanos));
  }

  /**
   * Pins a sending thread. The threads share all processors except the receiver's, possibly a
   * single one.
   */
  private void pinSender(int index) {
    int shared = pinning.cpus().size() - 1;
    if (shared > 1) { // otherwise the thread has inherited the pinning
      pinning.client(index % shared).ifPresent(Affinity::pin);
    }
  }

  private void work(OptionalInt cpu, Callable<Object> work) {
    Pinning.call(cpu, problems, work);
  }

  /**
   * Reads orders until the parent process ends or closes the input, and then exits without closing
   * anything: another thread may be processing a message, and unmapping its memory would crash the
   * JVM.
   */
  private void readOrders(List<BlockingQueue<Order>> queues, Runnable atEnd) {
    Thread.ofPlatform()
        .daemon()
        .name("ferrule-orders")
        .start(() -> {
          try (BufferedReader in =
              new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
              Order order = Order.parse(line);
              queues.forEach(orders -> orders.add(order));
            }
            atEnd.run();
            Runtime.getRuntime().halt(ExitCode.OK);
          } catch (Throwable e) {
            problems.accept(e.toString());
            Runtime.getRuntime().halt(ExitCode.FAILED);
          }
        });
  }
}
