// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.bench.BenchClient;
import dev.ferrule.tools.bench.Connections;
import dev.ferrule.tools.bench.Observer;
import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.bench.Plan;
import dev.ferrule.tools.bench.Result;
import dev.ferrule.tools.bench.ResultJson;
import dev.ferrule.tools.bench.ResultPlot;
import dev.ferrule.tools.bench.ResultTable;
import dev.ferrule.tools.bench.SenderThreads;
import dev.ferrule.tools.bench.ServerProcess;
import dev.ferrule.tools.bench.Subject;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.StatusLine;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/**
 * Options that the measuring commands have in common: the server, the amount of work, and the
 * output.
 */
final class MeasureOptions {

  private static final String PREFERRED_PROVIDER = "sm";
  private static final Duration OWN_CONNECT_TIMEOUT = Duration.ofSeconds(30);

  /** Options that apply to both sides; the server is started with them. */
  private static final List<dev.ferrule.Option<?>> CHOSEN_FOR_BOTH =
      List.of(StandardOptions.MAX_MESSAGE, StandardOptions.CONNECT_TIMEOUT);

  private static final Path STANDARD_OUTPUT = Path.of("-");

  @Parameters(
      arity = "0..1",
      paramLabel = "URI",
      description =
          "The address of 'ferrule serve'. Without one, a server is started on this host in a"
              + " process of its own.")
  private @Nullable String address;

  @Option(
      names = "--provider",
      paramLabel = "SCHEME",
      description =
          "Transport to measure if there is no URI. Default: sm, or the first that works on this"
              + " machine.")
  private @Nullable String providerScheme;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description =
          "Listen address of the server started, for transports that have hosts. Default: the"
              + " address of an RDMA device.")
  private @Nullable String host;

  @Option(
      names = "--messages",
      paramLabel = "N",
      description =
          "Messages to measure for each size (for the bandwidth: in each round and on each"
              + " connection). Default: what fits in a short time.")
  private @Nullable Long messages;

  @Option(
      names = "--warmup",
      paramLabel = "N",
      description = "Warm-up messages for each size. Default: what fits in about a second.")
  private @Nullable Long warmup;

  @Mixin private WaitOptions waitOptions = new WaitOptions();

  @Mixin private TransportOptions transportOptions = new TransportOptions();

  @Mixin private EndpointOptions endpointOptions = new EndpointOptions();

  @Option(
      names = "--floor",
      description =
          "Also measure a bare cache line and a bare one-way ring between the two processes,"
              + " interleaved with the messages, and show the ratios.")
  private boolean floor;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the results as JSON; - is standard output, instead of the table.")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "Plot the results over the size, as a PNG file.")
  private @Nullable Path plot;

  /** A measurement, run in a busy thread and in any other sender threads. */
  interface Measurement {
    List<Result> run(SenderThreads senderThreads, Subject subject, Plan plan, Observer observer);
  }

  /**
   * The load beyond one message after the other.
   *
   * @param connections the number of connections
   * @param threads the number of sending threads
   * @param unacked the maximum number of incomplete messages on each; 0 for the provider's default
   * @param kind what is measured
   */
  record Load(int connections, int threads, int unacked, Kind kind) {

    /** What is measured. */
    enum Kind {
      /** Messages in both directions, or with an answer at the end. */
      MESSAGES,

      /** Calls, for which messages in one direction suffice. */
      CALLS,

      /** Accesses to the peer's memory, with no messages between them. */
      ACCESSES
    }

    static final Load SINGLE = new Load(1, 1, 0, Kind.MESSAGES);
    static final Load CALLS = new Load(1, 1, 0, Kind.CALLS);
    static final Load ACCESSES = new Load(1, 1, 0, Kind.ACCESSES);

    boolean sendsMessages() {
      return kind != Kind.ACCESSES;
    }

    /**
     * Returns the server's wait strategy. Without messages the server's thread has nothing to do,
     * and would only take the processor from whatever copies on that side: an endpoint's thread, or
     * a device.
     */
    WaitStrategy serverWait(WaitStrategy client) {
      return sendsMessages() ? client : WaitStrategy.BLOCK;
    }
  }

  /** Sets a connection option, as {@code --option} does. */
  void set(String name, String value) {
    endpointOptions.values().put(name, value);
  }

  /** Measures and writes the results. */
  void measure(
      CommandLine command, List<Integer> sizes, int rounds, Load load, Measurement measurement) {
    Plan plan = plan(command, sizes, rounds);
    checkFiles(command);
    if (address == null) {
      measureOwnServer(command, plan, load, measurement);
      return;
    }
    if (providerScheme != null || host != null) {
      throw new ParameterException(
          command,
          "--provider and --host apply to a server that is started; the URI names one that is"
              + " running");
    }
    URI uri = ConfiguredAddress.parse(address);
    transportOptions.requireNoneOfServer();
    // The address of a local server has no host.
    int busyThreads = load.threads() + (uri.getRawAuthority() == null ? load.connections() : 1);
    ConfiguredAddress endpoint = endpoint(uri, plan, load, busyThreads);
    TransportOptions.requireNoneOfListener(endpoint);
    TransportOptions.requireNoneOfReceiver(endpoint);
    Pinning pinning = waitOptions.pinning(endpoint.waitStrategy(), busyThreads, problems(command));
    measureServer(command, endpoint, plan, load, pinning, measurement);
  }

  private static Consumer<String> problems(CommandLine command) {
    return problem -> {
      StatusLine.onTerminal().clear();
      Problems.print(command.getErr(), problem);
    };
  }

  private Plan plan(CommandLine command, List<Integer> sizes, int rounds) {
    if (messages != null && messages < 1 || warmup != null && warmup < 0 || rounds < 1) {
      throw new ParameterException(
          command, "--messages and --rounds must be at least 1, --warmup at least 0");
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
        throw new ParameterException(command, "cannot write " + file + ": no folder " + folder);
      }
    }
  }

  private ConfiguredAddress endpoint(URI uri, Plan plan, Load load, int busyThreads) {
    ConnectionOptions.Builder builder = endpointOptions.builder();
    waitOptions.addTo(builder, busyThreads);
    Optional.ofNullable(uri.getScheme())
        .flatMap(ConfiguredAddress::provider)
        .ifPresent( // without one, connecting fails with the reason
            provider -> {
              transportOptions.addTo(builder, provider);
              TransportOptions.fitMaxMessage(builder, provider, longest(plan, load));
              TransportOptions.raise(builder, provider, TransportOptions.UNACKED, load.unacked());
            });
    ConfiguredAddress endpoint = new ConfiguredAddress(uri, builder.build());
    if (load.kind() != Load.Kind.CALLS) {
      TransportOptions.requireBothWays(endpoint);
    }
    return endpoint;
  }

  private static int longest(Plan plan, Load load) {
    return !load.sendsMessages() ? 0 : Collections.max(plan.sizes());
  }

  /**
   * Extends the connect timeout for a server that this command has started: it does start to
   * listen, however slow the machine is. Only a remote server may be missing.
   */
  private static ConfiguredAddress patient(ConfiguredAddress endpoint) {
    return endpoint.options().isSet(StandardOptions.CONNECT_TIMEOUT)
        ? endpoint
        : new ConfiguredAddress(
            endpoint.address(),
            endpoint.options().toBuilder()
                .set(StandardOptions.CONNECT_TIMEOUT, OWN_CONNECT_TIMEOUT)
                .build());
  }

  private static <T> String text(ConnectionOptions options, dev.ferrule.Option<T> option) {
    return option.format(options.get(option));
  }

  private void measureOwnServer(
      CommandLine command, Plan plan, Load load, Measurement measurement) {
    ProviderInfo provider = provider();
    if (host != null && URI.create(provider.exampleAddress()).getRawAuthority() == null) {
      throw new ParameterException(
          command, "--host is for transports that have hosts, not for " + provider.scheme());
    }
    int busyThreads = load.threads() + load.connections();
    ConfiguredAddress template = template(provider, plan, load, busyThreads);
    WaitStrategy wait = template.waitStrategy();
    Pinning pinning = waitOptions.pinning(wait, busyThreads, problems(command));
    Map<String, String> serverOptions = new LinkedHashMap<>(endpointOptions.values());
    serverOptions.putAll(transportOptions.values());
    for (dev.ferrule.Option<?> option : CHOSEN_FOR_BOTH) {
      if (template.options().isSet(option)) {
        serverOptions.put(option.name(), text(template.options(), option));
      }
    }
    List<String> serveOptions = new ArrayList<>();
    serverOptions.forEach((name, value) -> serveOptions.add("--option=" + name + "=" + value));
    serveOptions.add("--wait=" + WaitOptions.name(load.serverWait(wait)));
    serveOptions.add(pinning == Pinning.OFF ? "--no-pin" : "--pin");
    StatusLine.onTerminal().show(command.getCommandName() + ": starting the server");
    AtomicBoolean failed = new AtomicBoolean();
    Consumer<String> lines =
        line -> {
          if (Guarded.exiting() || failed.get() && !ChildProcess.isOfSignal(line)) {
            return; // the server reports how this process, or its connection, has ended
          }
          StatusLine.onTerminal().clear();
          String problem = Problems.withoutAddresses(ChildProcess.withoutPrefix(line));
          Problems.print(command.getErr(), "server", problem);
        };
    try (ServerProcess server =
        ServerProcess.start(provider, Optional.ofNullable(host), serveOptions, lines)) {
      try {
        measureServer(
            command,
            new ConfiguredAddress(server.uri(), template.options()),
            plan,
            load,
            pinning,
            measurement);
      } catch (RuntimeException e) {
        failed.set(true);
        throw e;
      }
    } catch (FerruleException | ToolException e) {
      String reason = Problems.withoutAddresses(String.valueOf(e.getMessage()));
      throw new ToolException(ExitCode.of(e), reason, e);
    }
  }

  /** Returns the options for a server whose address is not known yet. */
  private ConfiguredAddress template(ProviderInfo provider, Plan plan, Load load, int busyThreads) {
    URI any = URI.create(provider.scheme() + ":///");
    try {
      ConfiguredAddress result = patient(endpoint(any, plan, load, busyThreads));
      result.waitStrategy(); // reads the options
      return result;
    } catch (InvalidOptionException | ToolException e) {
      throw new ToolException(
          ExitCode.of(e), Problems.withoutAddresses(String.valueOf(e.getMessage())), e);
    }
  }

  private ProviderInfo provider() {
    if (providerScheme != null) {
      return ConfiguredAddress.requiredProvider(providerScheme);
    }
    return ConfiguredAddress.provider(PREFERRED_PROVIDER)
        .filter(preferred -> preferred.availability().available())
        .or(() ->
            Ferrule.providers().stream()
                .filter(other -> other.availability().available())
                .findFirst())
        .orElseThrow(() ->
            new ToolException(
                ExitCode.NO_PROVIDER,
                "no provider works on this machine; 'ferrule doctor' reports why"));
  }

  private void measureServer(
      CommandLine command,
      ConfiguredAddress endpoint,
      Plan plan,
      Load load,
      Pinning pinning,
      Measurement measurement) {
    Consumer<String> problems = problems(command);
    Subject subject =
        new Subject(
            endpoint.address().getScheme(),
            WaitOptions.name(endpoint.waitStrategy()),
            load.connections(),
            load.threads());
    List<Result> results;
    try (Connections connections =
        TransportOptions.isSimplex(endpoint)
            ? Connections.oneWay(endpoint)
            : new Connections(endpoint, load.connections())) {
      connections.requireRoomFor(
          longest(plan, load),
          address == null
              ? "set --option maxMessage="
              : "start it with 'ferrule serve URI --option maxMessage=…' of at least ");
      List<BenchClient> clients = connections.clients();
      if (floor && clients.get(0).isOneWay()) {
        problems.accept("floor not measured: it needs messages in both directions");
      } else if (floor) {
        openFloor(clients.get(0), problems);
      }
      PartialResults soFar =
          new PartialResults(
              command.getCommandName(),
              StatusLine.onTerminal(),
              (stage, some) -> interrupted(command, stage, some, subject, pinning));
      Guarded<PartialResults> partial = Guarded.of(soFar);
      try (SenderThreads senderThreads =
          new SenderThreads(clients, load.threads(), pinning, problems)) {
        results =
            Pinning.call(
                pinning.client(0),
                problems,
                () -> measurement.run(senderThreads, subject, plan, soFar));
      } finally {
        StatusLine.onTerminal().clear();
        if (!Guarded.exiting()) {
          partial.release();
        }
      }
    }
    write(command, results, subject, pinning);
  }

  private static void openFloor(BenchClient client, Consumer<String> problems) {
    if (Pinning.onAllowedCpus() == Pinning.OFF) {
      problems.accept("floor not measured: two spinning threads need two processors");
    } else if (!client.openFloor()) {
      problems.accept(
          "floor not measured: the server is on another host, serves all clients by one thread,"
              + " or has reached its limit of floors");
    }
  }

  private static String where(Subject subject, Pinning pinning) {
    if (pinning == Pinning.OFF) {
      return ", not pinned";
    }
    return (subject.threads() == 1 ? ", on CPU " : ", on CPUs ")
        + IntStream.range(0, subject.threads())
            .mapToObj(thread -> String.valueOf(pinning.client(thread).getAsInt()))
            .collect(Collectors.joining(", "));
  }

  /** The last action when a signal ends the process. JSON is never written incomplete. */
  private void interrupted(
      CommandLine command, String stage, List<Result> results, Subject subject, Pinning pinning) {
    if (STANDARD_OUTPUT.equals(json)) {
      return;
    }
    if (results.isEmpty()) {
      if (StatusLine.onTerminal().isShown()) {
        command.getErr().println("ferrule: interrupted, no results yet (" + stage + ")");
      }
      return;
    }
    table(command, results, subject, pinning);
    command.getOut().flush();
    command
        .getErr()
        .println("ferrule: interrupted after " + stage + "; the results so far are above");
  }

  private static void table(
      CommandLine command, List<Result> results, Subject subject, Pinning pinning) {
    command.getOut().println(subject.title() + where(subject, pinning));
    command.getOut().print(ResultTable.format(results));
  }

  private void write(CommandLine command, List<Result> results, Subject subject, Pinning pinning) {
    if (STANDARD_OUTPUT.equals(json)) {
      command.getOut().print(ResultJson.format(results));
    } else {
      table(command, results, subject, pinning);
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
