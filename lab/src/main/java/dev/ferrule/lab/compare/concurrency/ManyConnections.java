// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.concurrency;

import dev.ferrule.lab.compare.CommandRunner;
import dev.ferrule.lab.compare.transport.Transport;
import dev.ferrule.lab.compare.transport.TransportUnderTest;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import dev.ferrule.tools.Main;
import dev.ferrule.tools.Values;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Problems;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures many connections that are established concurrently and then all carry messages. */
@Command(
    name = ManyConnections.NAME,
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Connects many clients concurrently, each with a thread of its own on both sides, and then"
            + " counts the messages that the server receives from all of them.")
public final class ManyConnections implements Callable<Integer> {

  static final String NAME = "many-connections";

  private static final String PROGRAM = "build-support/many-connections.sh";
  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(120);
  private static final long MILLIS_PER_SECOND = 1000;

  @Option(
      names = "--connections",
      split = ",",
      paramLabel = "N",
      defaultValue = "2,8,64,500",
      description = "Number of connections. Default: ${DEFAULT-VALUE}.")
  private List<Integer> connections = List.of();

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "NAME",
      description = "Transports: sm-adaptive, sm-block, unix, aeron. Default: all.")
  private @Nullable List<String> only;

  @Option(
      names = "--workload",
      split = ",",
      paramLabel = "NAME",
      defaultValue = "stream,echo",
      description =
          "stream: clients send without a pause; echo: each waits for its message's echo. Default:"
              + " ${DEFAULT-VALUE}.")
  private List<Workload> workloads = List.of();

  @Option(
      names = "--processes",
      split = ",",
      paramLabel = "N",
      defaultValue = "2",
      description =
          "2: a process for the clients and one for the server; 1: both in one. Default:"
              + " ${DEFAULT-VALUE}.")
  private List<Integer> processes = List.of();

  @Option(
      names = "--acceptors",
      paramLabel = "N",
      defaultValue = "1",
      description = "Number of accepting threads of the server. Default: ${DEFAULT-VALUE}.")
  private int acceptors;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Number of rounds. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "2",
      description =
          "Time for which messages are counted, in seconds, after a warm-up of half that time."
              + " Default: ${DEFAULT-VALUE}.")
  private long seconds;

  @Option(
      names = "--size",
      paramLabel = "N",
      converter = Values.Size.class,
      defaultValue = "64",
      description = "Message size in bytes. Default: ${DEFAULT-VALUE}.")
  private int size;

  @Spec private CommandSpec spec;

  private volatile boolean quiet;

  private ManyConnections() {}

  public static void main(String[] arguments) {
    CommandRunner.exit(new ManyConnections(), NAME, PROGRAM, arguments);
  }

  public static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return CommandRunner.run(
        new ManyConnections(), NAME, PROGRAM, out, err, Main.Look.PLAIN, arguments);
  }

  @Override
  public Integer call() throws IOException {
    List<TransportUnderTest> transports =
        CommandRunner.chosen(
            spec, only, TransportsUnderTest.concurrent(), TransportUnderTest::name);
    checkNumbers();
    out()
        .printf(
            "%-8s %-12s %9s %11s %9s %9s %12s %12s%n",
            "workload",
            "transport",
            "processes",
            "connections",
            "connected",
            "seconds",
            "messages/s",
            "slowest's");
    for (int round = 0; round < rounds; round++) {
      for (Workload workload : workloads) {
        for (int processCount : processes) {
          for (int count : connections) {
            for (TransportUnderTest transport : transports) {
              measure(workload, processCount, count, transport);
            }
          }
        }
      }
    }
    return ExitCode.OK;
  }

  private void checkNumbers() {
    for (int count : processes) {
      if (count < 1 || count > 2) {
        throw usage("--processes must be 1 or 2, not " + count);
      }
    }
    for (int count : connections) {
      checkPositive("--connections", count);
    }
    checkPositive("--rounds", rounds);
    checkPositive("--seconds", seconds);
    if (size < Transport.SHORTEST || size > Transport.LONGEST) {
      throw usage(
          "--size must be %s to %s bytes, not %s"
              .formatted(Transport.SHORTEST, Transport.LONGEST, size));
    }
  }

  private void checkPositive(String option, long value) {
    if (value < 1) {
      throw usage(option + " must be at least 1, not " + value);
    }
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private void measure(Workload workload, int processCount, int count, TransportUnderTest transport)
      throws IOException {
    quiet = false;
    Path directory = Files.createTempDirectory(FreshAddress.sharedDirectory(), "ferrule-many-");
    try (ChildProcess server =
        side(transport, workload, ConcurrencySide.SERVER, directory.toString())) {
      String address = server.awaitAnswer(START_TIMEOUT);
      try (@Nullable ChildProcess client =
          processCount == 1 ? null : side(transport, workload, ConcurrencySide.CLIENT, address)) {
        ChildProcess ofClients = client == null ? server : client;
        measure(workload, processCount, count, transport, server, ofClients);
      }
    } finally {
      FreshAddress.remove(directory);
    }
  }

  private void measure(
      Workload workload,
      int processCount,
      int count,
      TransportUnderTest transport,
      ChildProcess server,
      ChildProcess client) {
    client.tell("connect " + count);
    String[] connecting = client.awaitAnswer(CONNECT_TIMEOUT).split(" ");
    long millis = seconds * MILLIS_PER_SECOND;
    server.tell("measure " + millis / 2);
    server.awaitAnswer(CONNECT_TIMEOUT);
    server.tell("measure " + millis);
    String[] rate = server.awaitAnswer(CONNECT_TIMEOUT).split(" ");
    quiet = true; // later errors are consequences of the shutdown
    out()
        .printf(
            "%-8s %-12s %9d %11d %9s %9.2f %12.0f %12.0f%n",
            workload.name().toLowerCase(Locale.ROOT),
            transport.name(),
            processCount,
            count,
            connecting[0],
            Double.parseDouble(connecting[1]),
            Double.parseDouble(rate[0]),
            Double.parseDouble(rate[1]));
  }

  private ChildProcess side(
      TransportUnderTest transport, Workload workload, String role, String where) {
    return ChildProcess.start(
        ConcurrencySide.class.getName(),
        List.of(
            transport.name(),
            workload.name(),
            Integer.toString(size),
            role,
            where,
            Integer.toString(acceptors)),
        line -> {
          if (!quiet) { // hundreds of connections may fail for one reason
            quiet = true;
            Problems.print(spec.commandLine().getErr(), NAME, ChildProcess.withoutPrefix(line));
          }
        });
  }
}
