// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.concurrency;

import dev.ferrule.lab.compare.transport.Listening;
import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.lab.compare.transport.Transport;
import dev.ferrule.lab.compare.transport.TransportUnderTest;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Problems;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The main class of the server's process, of the client's, or of one process for both sides. Each
 * line of its standard input is a step; the answers go to standard output. It exits at the end of
 * its input without closing anything: its parent removes the files.
 */
final class ConcurrencySide {

  static final String SERVER = "server";
  static final String CLIENT = "client";

  private static final double NANOS_PER_SECOND = 1e9;

  private final TransportUnderTest underTest;
  private final Workload workload;
  private final int size;
  private final PrintWriter out = new PrintWriter(System.out);
  private final Collection<AtomicLong> counters = new ConcurrentLinkedQueue<>();

  private ConcurrencySide(TransportUnderTest underTest, Workload workload, int size) {
    this.size = size;
    this.underTest = underTest;
    this.workload = workload;
  }

  /**
   * Runs one side. The arguments are the transport's name, the workload, the messages' length,
   * {@link #SERVER} with a directory or {@link #CLIENT} with an address, and the number of
   * accepting threads.
   */
  public static void main(String[] arguments) {
    try {
      run(arguments);
      Runtime.getRuntime().halt(ExitCode.OK);
    } catch (Throwable e) {
      Problems.print(new PrintWriter(System.err, true), e.toString());
      Runtime.getRuntime().halt(ExitCode.FAILED);
    }
  }

  private static void run(String[] arguments) throws IOException, InterruptedException {
    ConcurrencySide side =
        new ConcurrencySide(
            TransportsUnderTest.named(arguments[0], TransportsUnderTest.concurrent()),
            Workload.valueOf(arguments[1]),
            Integer.parseInt(arguments[2]));
    String where = arguments[4];
    if (arguments[3].equals(SERVER)) {
      where = side.serve(Path.of(where), Integer.parseInt(arguments[5]));
      ChildProcess.answer(side.out, where);
    }
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ");
        switch (words[0]) {
          case "connect" -> side.connect(where, Integer.parseInt(words[1]));
          case "measure" -> side.measure(Long.parseLong(words[1]));
          default -> throw new IllegalArgumentException("unknown step " + words[0]);
        }
      }
    }
  }

  private String serve(Path directory, int acceptors) {
    Listening listening = underTest.listen(Mode.ONE_SENDER, directory, null);
    for (int i = 0; i < acceptors; i++) {
      thread("acceptor", () -> accept(listening)).start();
    }
    return listening.address();
  }

  private void accept(Listening listening) {
    while (true) {
      Transport transport = listening.accept();
      AtomicLong received = new AtomicLong();
      counters.add(received);
      thread("server", () -> workload.serve(transport, received, size)).start();
    }
  }

  /**
   * Connects all clients concurrently; answers with the number of connections and the seconds
   * needed.
   */
  private void connect(String address, int count) throws InterruptedException {
    AtomicInteger connected = new AtomicInteger();
    CountDownLatch begin = new CountDownLatch(1);
    CountDownLatch tried = new CountDownLatch(count);
    for (int i = 0; i < count; i++) {
      thread(
              "client",
              () -> {
                Transport transport;
                try {
                  begin.await();
                  transport = underTest.connect(Mode.ONE_SENDER, address, null);
                  connected.incrementAndGet();
                } finally {
                  tried.countDown();
                }
                workload.run(transport, size);
              })
          .start();
    }
    long start = System.nanoTime();
    begin.countDown();
    tried.await();
    double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
    ChildProcess.answer(out, connected.get() + " " + seconds);
  }

  /**
   * Answers with the number of messages received per second, in total and from the slowest
   * connection; 0 without connections.
   */
  private void measure(long millis) throws InterruptedException {
    long[] before = counters.stream().mapToLong(AtomicLong::getOpaque).toArray();
    long start = System.nanoTime();
    TimeUnit.MILLISECONDS.sleep(millis);
    long[] after = counters.stream().mapToLong(AtomicLong::getOpaque).toArray();
    double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
    long sum = 0;
    long least = Long.MAX_VALUE;
    for (int i = 0; i < before.length; i++) {
      long count = after[i] - before[i];
      sum += count;
      least = Math.min(least, count);
    }
    ChildProcess.answer(out, sum / seconds + " " + (before.length == 0 ? 0.0 : least / seconds));
  }

  private interface Work {
    void run() throws InterruptedException;
  }

  private static Thread thread(String name, Work work) {
    return Thread.ofPlatform()
        .daemon()
        .name(name)
        .unstarted(() -> {
          try {
            work.run();
          } catch (InterruptedException | RuntimeException e) {
            System.err.println("ferrule: " + name + ": " + e);
          }
        });
  }
}
