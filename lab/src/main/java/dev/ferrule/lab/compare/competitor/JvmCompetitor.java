// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.lab.compare.transport.TransportUnderTest;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** A transport of this JVM, in two processes, or in one if it cannot connect two. */
public record JvmCompetitor(TransportUnderTest transport) implements Competitor {

  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(120);

  @Override
  public String name() {
    return transport.name();
  }

  @Override
  public String version() {
    return transport.version();
  }

  @Override
  public boolean takesPart(Measure measure) {
    return transport.modes().contains(measure.mode()) && (transport.hasRate() || measure.isTime());
  }

  @Override
  public BenchmarkRun start(Mode mode, Consumer<String> problems) {
    Guarded<Directory> directory = Guarded.of(Directory.fresh());
    try {
      String path = directory.get().path().toString();
      boolean isAlone = transport.isWithinProcess();
      Guarded<ChildProcess> first =
          side(isAlone ? Side.SERVE_AND_CONNECT : Side.SERVE, mode, path, problems);
      try {
        String address = first.get().awaitAnswer(START_TIMEOUT);
        return isAlone
            ? new Sides(directory, List.of(first))
            : new Sides(directory, List.of(side(Side.CONNECT, mode, address, problems), first));
      } catch (RuntimeException e) {
        first.close();
        throw e;
      }
    } catch (RuntimeException e) {
      directory.close();
      throw e;
    }
  }

  private Guarded<ChildProcess> side(
      String role, Mode mode, String where, Consumer<String> problems) {
    return Guarded.of(
        ChildProcess.start(
            Side.class.getName(), List.of(role, transport.name(), mode.name(), where), problems));
  }

  /** A directory in shared memory for both sides. */
  private record Directory(Path path) implements AutoCloseable {

    static Directory fresh() {
      Path parent = FreshAddress.sharedDirectory();
      try {
        return new Directory(Files.createTempDirectory(parent, "ferrule-peers-"));
      } catch (IOException e) {
        throw new ToolException(
            ExitCode.NO_RESOURCE,
            "cannot create a directory in " + parent + ": " + e.getMessage(),
            e);
      }
    }

    @Override
    public void close() {
      FreshAddress.remove(path);
    }
  }

  /** The processes of both sides; the first is the client's, which answers with its measurement. */
  private record Sides(Guarded<Directory> directory, List<Guarded<ChildProcess>> processes)
      implements BenchmarkRun {

    @Override
    public Outcome measure(Measure measure, int size, int count) {
      Order order = new Order(measure, count, size);
      processes.forEach(process -> process.get().tell(order.line()));
      String[] figures = answer().split(" ");
      double value = Double.parseDouble(figures[0]);
      return measure.isTime()
          ? new Outcome(value, OptionalDouble.of(Double.parseDouble(figures[1])))
          : Outcome.rate(value);
    }

    /**
     * Waits until all processes have executed an order, or one has failed: the other would wait for
     * its messages forever.
     */
    private String answer() {
      List<CompletableFuture<String>> answers =
          processes.stream()
              .map(process ->
                  CompletableFuture.supplyAsync(
                      () -> process.get().awaitAnswer(ANSWER_TIMEOUT), Thread::startVirtualThread))
              .toList();
      try {
        CompletableFuture.anyOf(answers.toArray(CompletableFuture<?>[]::new)).join();
        answers.forEach(CompletableFuture::join);
        return answers.get(0).join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException failure ? failure : e;
      }
    }

    @Override
    public void close() {
      processes.forEach(Guarded::close);
      directory.close();
    }
  }
}
