// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.tools.bench.BenchClient;
import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.bench.Plan;
import dev.ferrule.tools.bench.Result;
import dev.ferrule.tools.bench.ResultJson;
import dev.ferrule.tools.bench.ResultPlot;
import dev.ferrule.tools.bench.ResultTable;
import dev.ferrule.tools.bench.ServerProcess;
import dev.ferrule.tools.bench.Subject;
import dev.ferrule.tools.support.Endpoint;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Handshake;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/**
 * What the commands that measure have in common: against whom, how much, and where the results go.
 */
final class MeasureOptions {

  private static final String PREFERRED_PROVIDER = "sm";
  private static final Path STANDARD_OUTPUT = Path.of("-");

  @Parameters(
      arity = "0..1",
      paramLabel = "URI",
      description =
          "Where 'ferrule serve' listens. Without one, a server is started on this host in a"
              + " process of its own.")
  private @Nullable String address;

  @Option(
      names = "--provider",
      paramLabel = "SCHEME",
      description =
          "The transport to measure without a URI. Default: sm, or the first that works here.")
  private @Nullable String providerScheme;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description =
          "Where the server that is started listens, for transports that have hosts. Default: an"
              + " RDMA device's address.")
  private @Nullable String host;

  @Option(
      names = "--messages",
      paramLabel = "N",
      description =
          "How many messages to measure for each size (for the bandwidth: in each round). Default:"
              + " what fits in a short time.")
  private @Nullable Long messages;

  @Option(
      names = "--warmup",
      paramLabel = "N",
      description =
          "How many messages to send before, for each size. Default: what fits in a second or so.")
  private @Nullable Long warmup;

  @Mixin private WaitOptions waitOptions = new WaitOptions();

  @Mixin private EndpointOptions endpointOptions = new EndpointOptions();

  @Option(
      names = "--floor",
      description =
          "Also bounce a bare cache line between the two processes, in turn with the messages, and"
              + " show how far off it is.")
  private boolean floor;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description =
          "Write the results as JSON as well; - is standard output, instead of the table.")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "Draw the results over the size, as a PNG picture.")
  private @Nullable Path plot;

  /** A measurement, to be run in the busy thread. */
  interface Measurement {
    List<Result> run(BenchClient client, Subject subject, Plan plan);
  }

  /** Measures and writes the results. */
  void measure(CommandLine command, List<Integer> sizes, int rounds, Measurement measurement) {
    Plan plan = plan(command, sizes, rounds);
    checkFiles(command);
    if (address == null) {
      measureOwnServer(command, plan, measurement);
    } else {
      if (providerScheme != null || host != null) {
        throw new ParameterException(
            command,
            "--provider and --host are for a server that is started here; the URI names one");
      }
      measureServer(command, endpoint(Endpoint.parse(address), plan), plan, measurement);
    }
  }

  private Plan plan(CommandLine command, List<Integer> sizes, int rounds) {
    if (messages != null && messages < 1 || warmup != null && warmup < 0 || rounds < 1) {
      throw new ParameterException(
          command, "--messages and --rounds are at least 1, --warmup at least 0");
    }
    return new Plan(List.copyOf(sizes), optional(messages), optional(warmup), rounds);
  }

  private static OptionalLong optional(@Nullable Long value) {
    return value == null ? OptionalLong.empty() : OptionalLong.of(value);
  }

  private void checkFiles(CommandLine command) {
    if (plot != null) {
      ResultPlot.check(plot);
    }
    for (Path file : new Path[] {json, plot}) {
      Path folder = file == null ? null : file.toAbsolutePath().getParent();
      if (folder != null && !Files.isDirectory(folder)) {
        throw new ParameterException(command, "there is no folder " + folder + " for " + file);
      }
    }
  }

  private Endpoint endpoint(URI uri, Plan plan) {
    ConnectionOptions.Builder builder = endpointOptions.builder();
    waitOptions.addTo(builder);
    long longest = Collections.max(plan.sizes());
    if (!builder.build().isSet(StandardOptions.MAX_MESSAGE)
        && longest > StandardOptions.MAX_MESSAGE.defaultValue()) {
      builder.maxMessageSize(longest);
    }
    return new Endpoint(uri, builder.build());
  }

  private void measureOwnServer(CommandLine command, Plan plan, Measurement measurement) {
    ConnectionProvider provider = provider();
    Endpoint template = endpoint(URI.create(provider.scheme() + ":///"), plan);
    WaitStrategy wait = template.waitStrategy();
    List<String> serveOptions = new ArrayList<>();
    endpointOptions
        .values()
        .forEach((name, value) -> serveOptions.add("--option=" + name + "=" + value));
    if (template.options().isSet(StandardOptions.MAX_MESSAGE)) {
      serveOptions.add(
          "--option=maxMessage=" + template.options().get(StandardOptions.MAX_MESSAGE));
    }
    serveOptions.add("--wait=" + WaitOptions.name(wait));
    serveOptions.add(waitOptions.pinning(wait) == Pinning.OFF ? "--no-pin" : "--pin");
    PrintWriter err = command.getErr();
    try (ServerProcess server =
        ServerProcess.start(
            provider,
            Optional.ofNullable(host),
            serveOptions,
            line -> err.println("server: " + line))) {
      measureServer(command, new Endpoint(server.uri(), template.options()), plan, measurement);
    }
  }

  private ConnectionProvider provider() {
    if (providerScheme != null) {
      String scheme = providerScheme;
      return Endpoint.provider(scheme)
          .orElseThrow(
              () ->
                  new ToolException(
                      ExitCode.NO_PROVIDER,
                      "there is no provider '"
                          + scheme
                          + "'; those that are here: "
                          + String.join(
                              ", ",
                              Ferrule.providers().stream()
                                  .map(ConnectionProvider::scheme)
                                  .toList())));
    }
    return Endpoint.provider(PREFERRED_PROVIDER)
        .filter(preferred -> preferred.availability().available())
        .or(
            () ->
                Ferrule.providers().stream()
                    .filter(other -> other.availability().available())
                    .findFirst())
        .orElseThrow(
            () ->
                new ToolException(
                    ExitCode.NO_PROVIDER, "no provider works here; 'ferrule doctor' says why"));
  }

  private void measureServer(
      CommandLine command, Endpoint endpoint, Plan plan, Measurement measurement) {
    WaitStrategy wait = endpoint.waitStrategy();
    Pinning pinning = waitOptions.pinning(wait);
    PrintWriter err = command.getErr();
    List<Result> results;
    try (Guarded<Connection> connection =
            Guarded.of(Handshake.BENCHMARK.connect(endpoint.address(), endpoint.options()));
        BenchClient client = new BenchClient(connection.get(), wait)) {
      if (floor) {
        openFloor(client, err);
      }
      Subject subject = new Subject(endpoint.address().getScheme(), WaitOptions.name(wait));
      results =
          Pinning.call(
              pinning.client(),
              problem -> err.println("ferrule: " + problem),
              () -> measurement.run(client, subject, plan));
    }
    write(command, results, pinning);
  }

  private static void openFloor(BenchClient client, PrintWriter err) {
    if (Pinning.onAllowedCpus() == Pinning.OFF) {
      err.println("ferrule: no floor is measured: two threads that spin need two processors");
    } else if (!client.openFloor()) {
      err.println("ferrule: no floor is measured: the server runs on another host");
    }
  }

  private void write(CommandLine command, List<Result> results, Pinning pinning) {
    Result first = results.get(0);
    if (STANDARD_OUTPUT.equals(json)) {
      command.getOut().print(ResultJson.format(results));
    } else {
      command
          .getOut()
          .println(
              first.provider()
                  + ", wait "
                  + first.waitStrategy()
                  + (pinning.client().isPresent()
                      ? ", on CPU " + pinning.client().getAsInt()
                      : ", not pinned"));
      command.getOut().print(ResultTable.format(results));
    }
    try {
      if (json != null && !STANDARD_OUTPUT.equals(json)) {
        Files.writeString(json, ResultJson.format(results));
      }
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, "cannot write " + json + ": " + e, e);
    }
    if (plot != null) {
      ResultPlot.write(results, plot);
    }
  }
}
