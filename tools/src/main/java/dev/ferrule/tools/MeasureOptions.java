// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.bench.BenchClient;
import dev.ferrule.tools.bench.Connections;
import dev.ferrule.tools.bench.FreshAddress;
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
import dev.ferrule.tools.support.Affinity;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.OutputFile;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.StatusLine;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Options shared by the measuring commands: the server, the amount of work, and the output. */
final class MeasureOptions {

  private static final String PREFERRED_PROVIDER = "sm";
  private static final Duration OWN_CONNECT_TIMEOUT = Duration.ofSeconds(30);

  /** Options that apply to both sides; the server is started with them. */
  private static final List<dev.ferrule.Option<?>> CHOSEN_FOR_BOTH =
      List.of(StandardOptions.MAX_MESSAGE, StandardOptions.CONNECT_TIMEOUT);

  private static final Path STANDARD_OUTPUT = Path.of("-");

  private static final Duration MIN_DURATION = Duration.ofMillis(10);

  // The range of --all, in bytes.
  private static final int SMALLEST = 8;
  private static final int LARGEST_MESSAGE = 1 << 20;
  private static final int LARGEST_ACCESS = 16 << 20;

  @Parameters(
      arity = "0..1",
      paramLabel = "URI",
      description =
          "The address of 'ferrule serve'. Without it, the command starts a server on this host,"
              + " in another process.")
  private @Nullable String address;

  @Option(
      names = "--provider",
      paramLabel = "SCHEME",
      completionCandidates = Schemes.class,
      description =
          "Transport to measure if no URI is given. Default: sm, or the first that works on this"
              + " machine.")
  private @Nullable String providerScheme;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description =
          "Address that the started server listens on, for transports whose addresses have a host."
              + " Default: the address of an RDMA device.")
  private @Nullable String host;

  @Option(
      names = {"-n", "--messages"},
      paramLabel = "N",
      description =
          "Messages to measure for each size (bandwidth: in each round, on each connection; rma:"
              + " accesses in each round). Default: as many as fit in a short time.")
  private @Nullable Long messages;

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "TIME",
      converter = Values.Time.class,
      description =
          "Measure each size (rma: each kind of access) for about this time instead of a number of"
              + " messages, such as 10s or 500ms; a plain number is in seconds. The clock ends the"
              + " rounds, of at most a second each and at least --rounds, fewer if some take too"
              + " long. Warm-ups, --floor and the plain copy are extra.")
  private @Nullable Duration duration;

  @Option(
      names = {"-i", "--interval"},
      paramLabel = "TIME",
      converter = Values.Time.class,
      description =
          "Also print the messages, the rate and the percentiles of each interval, such as 1, 0.5"
              + " or 500ms; at least 100ms. The sizes are then measured one after the other.")
  private @Nullable Duration interval;

  @Option(
      names = {"-a", "--all"},
      description =
          "Measure all powers of two from 8 bytes to 1 MiB (rma: to 16 MiB), instead of --size.")
  private boolean all;

  @Option(
      names = {"-c", "--cpus"},
      paramLabel = "N",
      split = ",",
      converter = Cpus.Converter.class,
      description =
          "Run on these processors only, such as 2,3 or 2-3, with the server that this command starts. The"
              + " client's threads take the first, the server's the last ones.")
  private List<Cpus> cpuRanges = List.of();

  @Option(
      names = "--warmup",
      paramLabel = "N",
      description = "Warm-up messages for each size. Default: as many as fit in about a second.")
  private @Nullable Long warmup;

  @Mixin private WaitOptions waitOptions = new WaitOptions();

  @Mixin private TransportOptions transportOptions = new TransportOptions();

  @Mixin private EndpointOptions endpointOptions = new EndpointOptions();

  @Option(
      names = "--floor",
      description =
          "Also measure a bare cache line and a bare one-way ring between the two processes, in"
              + " rounds interleaved with those of the messages, and show the ratios.")
  private boolean floor;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description =
          "Also write the results to FILE as JSON, as docs/json.md specifies. With -, write JSON to"
              + " standard output instead of the table.")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "Plot the results against the message size, as a PNG file.")
  private @Nullable Path plot;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  private final Instant start = Instant.now();

  /** A measurement, run by the calling thread and by any other sender threads. */
  interface Measurement {
    List<Result> run(SenderThreads senderThreads, Subject subject, Plan plan, Observer observer);
  }

  /**
   * The load of a measurement.
   *
   * @param connections the number of connections
   * @param threads the number of sending threads
   * @param unacked the maximum number of incomplete messages on each connection; 0 for the
   *     provider's default
   * @param kind what is measured
   */
  record Load(int connections, int threads, int unacked, Kind kind) {

    /** What is measured. */
    enum Kind {
      /** Messages in both directions, or with an answer at the end. */
      MESSAGES,

      /** Calls, which can also be measured with messages in one direction. */
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
     * Returns the server's wait strategy. Without messages the server's thread has nothing to do.
     * If it spun, it would take the processor from what copies on that side: an endpoint's thread,
     * or a software RDMA device.
     */
    WaitStrategy serverWait(WaitStrategy client) {
      return sendsMessages() ? client : WaitStrategy.BLOCK;
    }
  }

  /** The schemes of the providers, for completions. */
  static final class Schemes implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Ferrule.providers().stream().map(ProviderInfo::scheme).iterator();
    }
  }

  /** Sets a connection option, as {@code --option} does. */
  void set(String name, String value) {
    endpointOptions.set(name, value);
  }

  private record Task(Plan plan, Load load, Measurement measurement) {

    int longestMessage() {
      return load.sendsMessages() ? Collections.max(plan.sizes()) : 0;
    }
  }

  /** Measures and writes the results. */
  void measure(List<Integer> sizes, int rounds, Load load, Measurement measurement) {
    if (messages != null && messages < 1 || warmup != null && warmup < 0 || rounds < 1) {
      throw usage("--messages and --rounds must be at least 1, --warmup at least 0");
    }
    Task task = new Task(plan(sizes, rounds, load), load, measurement);
    checkFiles();
    restrictProcessors();
    if (address == null) {
      measureOwnServer(task);
      return;
    }
    if (providerScheme != null || host != null) {
      throw usage(
          "--provider and --host apply to a server that this command starts; remove them, or the"
              + " URI");
    }
    URI uri = ConfiguredAddress.parse(address);
    transportOptions.requireNoneOfServer();
    // The address of a local server has no host.
    int busyThreads = load.threads() + (uri.getRawAuthority() == null ? load.connections() : 1);
    ConfiguredAddress endpoint = endpoint(uri, task, busyThreads);
    TransportOptions.requireNoneOfListener(endpoint);
    TransportOptions.requireNoneOfReceiver(endpoint);
    measure(task, endpoint, waitOptions.pinning(endpoint.waitStrategy(), busyThreads, this::warn));
  }

  private Plan plan(List<Integer> sizes, int rounds, Load load) {
    if (all && spec.commandLine().getParseResult().hasMatchedOption("--size")) {
      throw usage("--all and --size exclude each other");
    }
    if (interval != null) {
      Values.checkInterval(spec, "--interval", interval);
      if (load.kind() == Load.Kind.CALLS) {
        throw usage("--interval does not apply to --calls, whose calls are timed one by one");
      }
    }
    List<Integer> chosen = all ? allSizes(load.kind()) : List.copyOf(sizes);
    if (duration == null) {
      return new Plan(chosen, optional(messages), optional(warmup), rounds);
    }
    if (messages != null) {
      throw usage("--duration and --messages exclude each other");
    }
    if (load.kind() == Load.Kind.CALLS) {
      throw usage(
          "--duration does not apply to --calls, whose calls are timed one by one; use --messages");
    }
    if (duration.compareTo(MIN_DURATION) < 0) {
      throw usage("--duration must be at least " + MIN_DURATION.toMillis() + "ms");
    }
    return Plan.lasting(chosen, duration, optional(warmup), rounds);
  }

  private static List<Integer> allSizes(Load.Kind kind) {
    int largest = kind == Load.Kind.ACCESSES ? LARGEST_ACCESS : LARGEST_MESSAGE;
    return IntStream.iterate(SMALLEST, size -> size <= largest, size -> 2 * size).boxed().toList();
  }

  /** Restricts this thread, and so the threads and the process that it starts. */
  private void restrictProcessors() {
    if (cpuRanges.isEmpty()) {
      return;
    }
    List<Integer> cpus = cpuRanges.stream().flatMapToInt(Cpus::numbers).boxed().toList();
    List<Integer> allowed = Affinity.allowed();
    if (!allowed.containsAll(cpus)) {
      throw usage(
          "--cpus " + joined(cpuRanges) + ": this process may run on " + joined(allowed) + " only");
    }
    if (!Affinity.restrict(cpus)) {
      warn("--cpus has no effect: sched_setaffinity failed");
    }
  }

  private static String joined(List<?> numbers) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  private ParameterException usage(String problem) {
    return new ParameterException(spec.commandLine(), problem);
  }

  private void warn(String problem) {
    StatusLine.onTerminal().clear();
    Problems.print(spec.commandLine().getErr(), problem);
  }

  private static OptionalLong optional(@Nullable Long value) {
    return value == null ? OptionalLong.empty() : OptionalLong.of(value);
  }

  private void checkFiles() {
    if (plot != null) {
      ResultPlot.check(plot);
    }
    if (json != null && !STANDARD_OUTPUT.equals(json)) {
      OutputFile.check(json);
    }
  }

  private ConfiguredAddress endpoint(URI uri, Task task, int busyThreads) {
    ConnectionOptions.Builder builder = endpointOptions.builder();
    waitOptions.addTo(builder, busyThreads);
    ConfiguredAddress.provider(uri.getScheme())
        .ifPresent( // without a provider, connecting fails with the reason
            provider -> {
              transportOptions.addTo(builder, provider);
              TransportOptions.fitMaxMessage(builder, provider, task.longestMessage());
              TransportOptions.raise(
                  builder, provider, TransportOptions.UNACKED, task.load.unacked());
            });
    ConfiguredAddress endpoint = new ConfiguredAddress(uri, builder.build());
    if (task.load.kind() != Load.Kind.CALLS) {
      TransportOptions.requireBothWays(endpoint);
    }
    return endpoint;
  }

  private void measureOwnServer(Task task) {
    ProviderInfo provider = provider();
    if (host != null && FreshAddress.isLocal(provider)) {
      throw usage("--host is for transports that have hosts, not for " + provider.scheme());
    }
    int busyThreads = task.load.threads() + task.load.connections();
    AtomicBoolean failed = new AtomicBoolean();
    try {
      ConfiguredAddress template = template(provider, task, busyThreads);
      WaitStrategy wait = template.waitStrategy();
      Pinning pinning = waitOptions.pinning(wait, busyThreads, this::warn);
      List<String> serveOptions = serveOptions(template.options());
      serveOptions.add("--wait=" + WaitOptions.name(task.load.serverWait(wait)));
      serveOptions.add(pinning == Pinning.OFF ? "--no-pin" : "--pin");
      StatusLine.onTerminal().show(spec.name() + ": starting the server");
      try (ServerProcess server =
          ServerProcess.start(
              provider,
              Optional.ofNullable(host),
              serveOptions,
              line -> warnOfServer(line, failed.get()))) {
        try {
          measure(task, new ConfiguredAddress(server.uri(), template.options()), pinning);
        } catch (RuntimeException e) {
          failed.set(true);
          throw e;
        }
      }
    } catch (FerruleException | ToolException e) { // the address is not the user's
      String reason = Problems.withoutAddresses(String.valueOf(e.getMessage()));
      throw new ToolException(ExitCode.of(e), reason, e);
    }
  }

  private void warnOfServer(String line, boolean failed) {
    if (Guarded.exiting() || failed && !ChildProcess.isOfSignal(line)) {
      return; // the server only reports that this process or its connection has ended
    }
    StatusLine.onTerminal().clear();
    String problem = Problems.withoutAddresses(ChildProcess.withoutPrefix(line));
    Problems.print(spec.commandLine().getErr(), "server", problem);
  }

  /** Returns the options with which the server is started. */
  private List<String> serveOptions(ConnectionOptions options) {
    Map<String, String> values = new LinkedHashMap<>(endpointOptions.values());
    values.putAll(transportOptions.values());
    for (dev.ferrule.Option<?> option : CHOSEN_FOR_BOTH) {
      String text = options.values().get(option.name());
      if (text != null) {
        values.put(option.name(), text);
      }
    }
    List<String> arguments = new ArrayList<>();
    values.forEach((name, value) -> arguments.add("--option=" + name + "=" + value));
    return arguments;
  }

  /**
   * Returns the options for a server whose address is not known yet. Unless the user has set the
   * connect timeout, it is extended: a server that this command has started always answers, however
   * slow the machine is. Only a remote server may be missing.
   */
  private ConfiguredAddress template(ProviderInfo provider, Task task, int busyThreads) {
    ConfiguredAddress endpoint =
        endpoint(URI.create(provider.scheme() + ":///"), task, busyThreads);
    return endpoint.options().find(StandardOptions.CONNECT_TIMEOUT).isPresent()
        ? endpoint
        : new ConfiguredAddress(
            endpoint.address(),
            endpoint.options().toBuilder()
                .set(StandardOptions.CONNECT_TIMEOUT, OWN_CONNECT_TIMEOUT)
                .build());
  }

  private ProviderInfo provider() {
    if (providerScheme != null) {
      return ConfiguredAddress.requiredProvider(providerScheme);
    }
    return Stream.concat(
            ConfiguredAddress.provider(PREFERRED_PROVIDER).stream(), Ferrule.providers().stream())
        .filter(provider -> provider.availability().available())
        .findFirst()
        .orElseThrow(() ->
            new ToolException(
                ExitCode.NO_PROVIDER,
                "no provider works on this machine; 'ferrule doctor' reports why"));
  }

  private void measure(Task task, ConfiguredAddress endpoint, Pinning pinning) {
    Load load = task.load;
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
          task.longestMessage(),
          address == null
              ? "set --option maxMessage="
              : "start it with 'ferrule serve URI --option maxMessage=…' of at least ");
      List<BenchClient> clients = connections.clients();
      if (floor) {
        openFloor(clients.get(0));
      }
      PartialResults soFar =
          new PartialResults(
              spec.name(),
              StatusLine.onTerminal(),
              (stage, some) -> interrupted(stage, some, subject, pinning),
              interval == null ? Observer.NO_INTERVALS : interval.toNanos(),
              this::printInterval);
      Guarded<PartialResults> partial = Guarded.of(soFar);
      try (SenderThreads senderThreads =
          new SenderThreads(clients, load.threads(), pinning, this::warn)) {
        results =
            Pinning.call(
                pinning.client(0),
                this::warn,
                () -> task.measurement.run(senderThreads, subject, task.plan, soFar));
      } finally {
        StatusLine.onTerminal().clear();
        if (!Guarded.exiting()) {
          partial.release();
        }
      }
    }
    write(results, subject, pinning);
  }

  private void openFloor(BenchClient client) {
    if (client.isOneWay()) {
      warn("floor not measured: it needs messages in both directions");
    } else if (Pinning.onAllowedCpus() == Pinning.OFF) {
      warn("floor not measured: two spinning threads need two processors");
    } else if (!client.openFloor()) {
      warn(
          "floor not measured: the server is on another host, serves all clients in one thread, or"
              + " has reached its limit of floors");
    }
  }

  /** Prints the text of an interval at once, unless standard output is for JSON. */
  private void printInterval(String text) {
    if (!STANDARD_OUTPUT.equals(json)) {
      PrintWriter out = spec.commandLine().getOut();
      out.print(text);
      out.flush();
    }
  }

  /** Prints the results so far when a signal ends the process. Does not write incomplete JSON. */
  private void interrupted(String stage, List<Result> results, Subject subject, Pinning pinning) {
    PrintWriter err = spec.commandLine().getErr();
    if (STANDARD_OUTPUT.equals(json)) {
      return;
    }
    if (!results.isEmpty()) {
      printTable(results, subject, pinning);
      spec.commandLine().getOut().flush();
      err.println("ferrule: interrupted after " + stage + "; the results so far are above");
    } else if (StatusLine.onTerminal().isShown()) {
      err.println("ferrule: interrupted, no results yet (" + stage + ")");
    }
  }

  private void printTable(List<Result> results, Subject subject, Pinning pinning) {
    String cpus =
        IntStream.range(0, subject.threads())
            .mapToObj(pinning::client)
            .flatMapToInt(OptionalInt::stream)
            .mapToObj(String::valueOf)
            .collect(Collectors.joining(", "));
    String where =
        pinning == Pinning.OFF
            ? ", not pinned"
            : (subject.threads() == 1 ? ", on CPU " : ", on CPUs ") + cpus;
    PrintWriter out = spec.commandLine().getOut();
    out.println(subject.title() + where);
    out.print(ResultTable.format(results));
  }

  /** Writes the results: to standard output last, which remains empty if a file fails. */
  private void write(List<Result> results, Subject subject, Pinning pinning) {
    boolean onlyJson = STANDARD_OUTPUT.equals(json);
    if (!onlyJson) {
      printTable(results, subject, pinning);
    }
    if (json != null && !onlyJson) {
      try {
        Files.writeString(json, toJson(results));
      } catch (IOException e) {
        throw OutputFile.failure(json, e);
      }
    }
    if (plot != null) {
      ResultPlot.write(results, plot);
    }
    if (onlyJson) {
      spec.commandLine().getOut().print(toJson(results));
    }
  }

  private String toJson(List<Result> results) {
    JsonDocument document = new JsonDocument("ferrule." + spec.name() + "/1", start);
    ResultJson.properties(results).asMap().forEach(document.properties()::add);
    results.forEach(result -> document.results().add(ResultJson.object(result)));
    return document.format();
  }
}
