// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.JsonObject;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.tools.bench.BandwidthBench;
import dev.ferrule.tools.bench.BenchClient;
import dev.ferrule.tools.bench.CallBench;
import dev.ferrule.tools.bench.Connections;
import dev.ferrule.tools.bench.Floor;
import dev.ferrule.tools.bench.LatencyBench;
import dev.ferrule.tools.bench.LatencySummary;
import dev.ferrule.tools.bench.OverrunBench;
import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.bench.Result;
import dev.ferrule.tools.bench.RmaBench;
import dev.ferrule.tools.bench.RunningServer;
import dev.ferrule.tools.bench.SenderThreads;
import dev.ferrule.tools.bench.Subject;
import dev.ferrule.tools.bench.Watchdog;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The resources for measuring points: servers in processes of their own, and connections to one of
 * them. A server takes a while to start, so the last few are kept for points with the same set-up;
 * a server without a client sleeps. Connections are kept for the next point only, since their
 * threads may spin.
 */
public final class Workbench implements AutoCloseable {

  /** Enough for the set-ups that alternate in one experiment. */
  private static final int MAX_SERVERS = 3;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(60);

  /** The time limit of a round, in addition to the time of its messages. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final String SINGLE_RECEIVER = "singleReceiver";
  private static final String ACK_TIMEOUT = "ackTimeout";
  private static final int MOST_MOVES = 2;
  private static final int ANY_SIZE = -1;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final String SPIN = "spin";
  private static final String BLOCK = "block";
  private static final int NO_COPY = Integer.MAX_VALUE;

  /** The delay after which the kernel shows a device's current counters. */
  private static final long COUNTERS_MILLIS = 50;

  private final Effort effort;
  private final Servers starter;
  private final Consumer<String> problems;
  private final Watchdog watchdog;

  /** The last line of the server of the point that is measured. */
  private volatile @Nullable String lastLine;

  private volatile @Nullable Place measured;
  private final LinkedHashMap<Place, RunningServer> servers = new LinkedHashMap<>(8, 0.75f, true);
  private final Map<Object, AutoCloseable> resources = new LinkedHashMap<>();
  private final Set<Warm> warm = new HashSet<>();
  private final Set<Place> warmLines = new HashSet<>();
  private @Nullable Connections connections;
  private @Nullable NeededConnections connected;
  private @Nullable Floor line; // of the connection, if its messages travel by cache lines

  public Workbench(Effort effort, Servers starter, Consumer<String> problems) {
    this(effort, starter, problems, PATIENCE);
  }

  Workbench(Effort effort, Servers starter, Consumer<String> problems, Duration patience) {
    this.effort = effort;
    this.starter = starter;
    this.problems = problems;
    this.watchdog = new Watchdog(patience);
  }

  /** The server that a point needs. */
  private record Place(
      String provider, String waiting, boolean pinned, Map<String, String> options) {
    static Place of(Point point) {
      // a spinning server thread would occupy the processor on which mmap copies
      String waiting = point.kind() == Point.Kind.RMA ? BLOCK : point.waiting();
      return new Place(point.provider(), waiting, pinning(point) != Pinning.OFF, point.server());
    }
  }

  /** A kind of measurement whose loops are compiled, both in a running server and here. */
  private record Warm(Point.Kind kind, Place place, int sizeBytes) {}

  /** The connections that a point needs. */
  private record NeededConnections(Place place, Map<String, String> options, int count) {
    static NeededConnections of(Point point) {
      return new NeededConnections(Place.of(point), point.client(), point.connections());
    }
  }

  /**
   * Returns whether a point depends on a cache line's latency between the processors, and that can
   * be measured.
   */
  private static boolean dependsOnLine(Point point) {
    return !Catalogue.has(ConfiguredAddress.requiredProvider(point.provider()), Catalogue.UNACKED)
        && point.connections() == 1
        && !point.server().containsKey(SINGLE_RECEIVER)
        && pinning(point) != Pinning.OFF;
  }

  private static Pinning pinning(Point point) {
    Pinning pinning = Pinning.onAllowedCpus();
    int threadsHere = point.processors().shared() ? point.busyThreads() : point.threads();
    return point.waiting().equals(SPIN) && pinning.hasRoomFor(threadsHere) ? pinning : Pinning.OFF;
  }

  public Effort effort() {
    return effort;
  }

  /**
   * Returns a resource of other tasks, created on first use; the same for each call with that key,
   * until it is {@linkplain #closeResource closed}. First stops all threads of Ferrule that spin.
   */
  public <T extends AutoCloseable> T resource(Object key, Class<T> type, Supplier<T> maker) {
    disconnect();
    stopSpinningServers(null);
    return type.cast(resources.computeIfAbsent(key, missing -> maker.get()));
  }

  /** Closes all resources of other tasks: their processes cost time even when idle. */
  void closeResources() {
    List.copyOf(resources.keySet()).forEach(this::closeResource);
  }

  /** Closes a resource of other tasks after a failure, since its state is unknown. */
  public void closeResource(Object key) {
    AutoCloseable resource = resources.remove(key);
    if (resource != null) {
      try {
        resource.close();
      } catch (Exception e) {
        problems.accept("cannot close " + key + ": " + e.getMessage());
      }
    }
  }

  /** Returns the receiver of one line for each problem that is not a failure. */
  public Consumer<String> problems() {
    return problems;
  }

  JsonObject measure(Point point) {
    boolean watched =
        "0".equals(point.client().get(Catalogue.RNR_RETRY)) && !mayOverrun(point.server());
    OptionalLong before = watched ? count() : OptionalLong.empty();
    JsonObject result;
    measured = Place.of(point);
    lastLine = null;
    try {
      result = runInOnePlace(point);
    } catch (RuntimeException e) {
      abandon(Place.of(point)); // after this the server writes nothing more
      String reason = e.getMessage() == null ? e.toString() : e.getMessage();
      if (lastLine != null) {
        reason += "; server: " + lastLine;
      }
      OptionalLong lost = since(before); // these may be the cause of a broken connection
      if (lost.isPresent()) {
        reason += " (messages without a receive: " + lost.getAsLong() + ")";
      }
      throw new ToolException(ExitCode.FAILED, reason, e);
    } catch (Error e) {
      abandon(Place.of(point));
      throw e;
    }
    since(before).ifPresent(count -> result.addProperty(Catalogue.RNR, count));
    return result;
  }

  /** Returns whether a server's clients may send messages for which it has no receive. */
  private static boolean mayOverrun(Map<String, String> server) {
    return Catalogue.OFF.equals(server.get(Catalogue.CREDITS));
  }

  /**
   * Measures a point; repeats it, a limited number of times, if the processors were migrated during
   * the measurement.
   */
  private JsonObject runInOnePlace(Point point) {
    JsonObject result = run(point, connect(point));
    if (point.kind() == Point.Kind.OVERRUN) {
      disconnect(); // the connections may be broken
      return result;
    }
    for (int moves = 0; moves < MOST_MOVES && Placement.moved(result); moves++) {
      try {
        result = run(point, connect(point));
      } catch (RuntimeException e) { // the first result is used
        problems.accept(point.experiment() + ", retry: " + e.getMessage());
        abandon(Place.of(point));
        return result;
      }
    }
    return result;
  }

  /** Returns how many messages found no receive posted, if there is a counter. */
  private static OptionalLong since(OptionalLong before) {
    OptionalLong now = before.isPresent() ? count() : before;
    return now.isPresent()
        ? OptionalLong.of(now.getAsLong() - before.getAsLong())
        : OptionalLong.empty();
  }

  private static OptionalLong count() {
    try {
      Thread.sleep(COUNTERS_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return RnrCounters.read();
  }

  private Connections connect(Point point) {
    NeededConnections wanted = NeededConnections.of(point);
    if (connections == null || !wanted.equals(connected)) {
      disconnect();
      ConnectionOptions.Builder options = ConnectionOptions.builder();
      point.client().forEach(options::set);
      options.set("wait", point.waiting()).set(StandardOptions.CONNECT_TIMEOUT, CONNECT_TIMEOUT);
      patience(point.provider()).forEach(options::set);
      connections =
          new Connections(
              new ConfiguredAddress(server(wanted.place()).uri(), options.build()),
              point.connections());
      connected = wanted;
      shareLine(point, connections.clients().get(0));
    }
    return Objects.requireNonNull(connections);
  }

  private void shareLine(Point point, BenchClient client) {
    if (!dependsOnLine(point)) {
      return;
    }
    line = watchdog.watch(List.of(client), client::shareFloor).orElse(null);
    Floor shared = line;
    if (shared != null && warmLines.add(Place.of(point))) { // a new server's loops are not compiled
      Callable<Floor> warming =
          () -> {
            shared.warmUp();
            return shared;
          };
      watchdog.watch(
          List.of(client), () -> Pinning.call(pinning(point).client(0), problems, warming));
    }
  }

  private void disconnect() {
    Connections open = connections;
    Floor shared = line;
    connections = null;
    connected = null;
    line = null;
    try {
      if (shared != null) {
        shared.close();
      }
    } finally {
      if (open != null) {
        open.close();
      }
    }
  }

  /**
   * Returns the options for an emulated host, which may take a second to answer if the machine is
   * busy.
   */
  private static Map<String, String> patience(String provider) {
    return Machine.isEmulated()
            && Catalogue.has(ConfiguredAddress.requiredProvider(provider), ACK_TIMEOUT)
        ? Map.of(ACK_TIMEOUT, "18")
        : Map.of();
  }

  private RunningServer server(Place place) {
    RunningServer running = servers.get(place);
    stopSpinningServers(place);
    if (running != null) {
      return running;
    }
    while (servers.size() >= MAX_SERVERS) {
      stop(servers.keySet().iterator().next());
    }
    Map<String, String> options = new LinkedHashMap<>(place.options());
    options.put("connectTimeout", CONNECT_TIMEOUT.toSeconds() + "s");
    options.putAll(patience(place.provider()));
    RunningServer started =
        starter.start(
            ConfiguredAddress.requiredProvider(place.provider()),
            new ServerSettings(options, place.waiting(), place.pinned()),
            line -> {
              if (place.equals(measured)) {
                lastLine = ChildProcess.withoutPrefix(line);
              }
              if (!mayOverrun(place.options())) { // with overruns, a broken connection is a result
                problems.accept("server: " + line);
              }
            });
    servers.put(place, started);
    return started;
  }

  /** Closes servers whose single receiver spins even without a client. */
  private void stopSpinningServers(@Nullable Place except) {
    servers.keySet().stream()
        .filter(other -> other.options().containsKey(SINGLE_RECEIVER) && !other.equals(except))
        .toList()
        .forEach(this::stop);
  }

  private void stop(Place place) {
    if (connected != null && connected.place().equals(place)) {
      disconnect();
    }
    warm.removeIf(loops -> loops.place().equals(place)); // the next one starts cold
    warmLines.remove(place);
    RunningServer server = servers.remove(place);
    if (server != null) {
      server.close();
    }
  }

  /** Closes the connections and the server after a failure, since their state is unknown. */
  private void abandon(Place place) {
    try {
      disconnect();
    } catch (RuntimeException e) {
      // the original failure is reported instead
    }
    stop(place);
  }

  private JsonObject run(Point point, Connections open) {
    Subject subject =
        new Subject(point.provider(), point.waiting(), point.connections(), point.threads());
    Pinning pinning = pinning(point);
    Effort.Warmth warmth = warmth(point);
    try (SenderThreads senderThreads =
        new SenderThreads(open.clients(), point.threads(), pinning, problems)) {
      return watchdog.watch(
          open.clients(),
          () ->
              Pinning.call(
                  pinning.client(0), problems, () -> run(point, senderThreads, subject, warmth)));
    }
  }

  private JsonObject overrun(Point point, SenderThreads senderThreads, Effort.Warmth warmth) {
    long warmUp = effort.plan(point.sizeBytes(), warmth).pace().firstWarmUpNanos();
    OverrunBench.Outcome outcome =
        new OverrunBench(senderThreads, point.sizeBytes(), point.unacked(), point.pauseNanos())
            .run(effort.overrunMessages(), warmUp);
    JsonObject figures = new JsonObject();
    add(figures, Catalogue.SENT, (double) outcome.sent() / point.connections());
    if (!outcome.overrun()) { // the end of a connection takes time, and loses messages
      add(figures, Metric.MESSAGES.name(), outcome.sent() * NANOS_PER_SECOND / outcome.nanos());
    }
    return figures;
  }

  private JsonObject run(
      Point point, SenderThreads senderThreads, Subject subject, Effort.Warmth warmth) {
    if (point.kind() == Point.Kind.OVERRUN) {
      return overrun(point, senderThreads, warmth);
    }
    OptionalDouble before = lineNanos();
    JsonObject figures = figures(point.kind(), results(point, senderThreads, subject, warmth));
    before.ifPresent(nanos -> add(figures, Placement.BEFORE, nanos));
    lineNanos().ifPresent(nanos -> add(figures, Placement.AFTER, nanos));
    return figures;
  }

  /**
   * Returns the warmth of the loops of this kind of measurement, here and in that server, and marks
   * them as warm.
   */
  private Effort.Warmth warmth(Point point) {
    Place place = Place.of(point);
    boolean newKind = warm.add(new Warm(point.kind(), place, ANY_SIZE));
    boolean newSize = warm.add(new Warm(point.kind(), place, point.sizeBytes()));
    if (newKind) {
      return Effort.Warmth.COLD;
    }
    return newSize ? Effort.Warmth.NEW_SIZE : Effort.Warmth.WARM;
  }

  private OptionalDouble lineNanos() {
    return line == null ? OptionalDouble.empty() : OptionalDouble.of(line.shortRound());
  }

  private List<Result> results(
      Point point, SenderThreads senderThreads, Subject subject, Effort.Warmth warmth) {
    int size = point.sizeBytes();
    return switch (point.kind()) {
      case LATENCY ->
          new LatencyBench(senderThreads.first(), subject, effort.plan(size, warmth)).run();
      case CALLS -> new CallBench(senderThreads.first(), subject, effort.calls(size, warmth)).run();
      case RMA ->
          new RmaBench(senderThreads.first(), subject, effort.plan(size, warmth), false).run();
      case BANDWIDTH ->
          new BandwidthBench(
                  senderThreads,
                  subject,
                  effort.plan(size, warmth),
                  point.client().containsKey(Catalogue.UNACKED) ? 0 : point.unacked(),
                  point.batch(),
                  false,
                  NO_COPY)
              .run();
      case OVERRUN -> throw new IllegalStateException("an overrun has no results of this kind");
    };
  }

  private static JsonObject figures(Point.Kind kind, List<Result> results) {
    JsonObject figures = new JsonObject();
    for (Result result : results) {
      switch (kind) {
        case LATENCY -> times(figures, "", Objects.requireNonNull(result.latency()));
        case CALLS -> {
          LatencySummary times = Objects.requireNonNull(result.latency());
          add(figures, result.call() + "_ns", times.p50());
          add(figures, result.call() + "_mid_ns", times.midMean());
          add(figures, result.call() + "_step_ns", times.step());
        }
        case BANDWIDTH -> rates(figures, "", result);
        case RMA -> {
          String call = result.call() + "_";
          times(figures, call, Objects.requireNonNull(result.latency()));
          rates(figures, call, result);
          Result.RmaFigures rma = Objects.requireNonNull(result.rma());
          add(figures, call + "bare_copy_bytes_per_s", rma.floorBytesPerSecond());
          figures.addProperty("path", rma.path());
        }
        case OVERRUN -> throw new IllegalStateException("an overrun has no results of this kind");
      }
    }
    return figures;
  }

  private static void times(JsonObject figures, String prefix, LatencySummary times) {
    add(figures, prefix + "p50_ns", times.p50());
    add(figures, prefix + "p99_ns", times.p99());
    add(figures, prefix + "p999_ns", times.p999());
  }

  private static void rates(JsonObject figures, String prefix, Result result) {
    add(figures, prefix + "messages_per_s", result.messagesPerSecond().orElse(0));
    add(figures, prefix + "bytes_per_s", result.bytesPerSecond().orElse(0));
  }

  /**
   * Adds a figure with three decimals, more than any clock resolves; nothing if it is not a number.
   */
  private static void add(JsonObject figures, String name, double value) {
    if (!Double.isNaN(value)) {
      figures.addProperty(name, Math.round(value * 1000) / 1000.0);
    }
  }

  /** Closes the connections and the servers. */
  @Override
  public void close() {
    try {
      disconnect();
    } finally {
      List.copyOf(servers.keySet()).forEach(this::stop);
      closeResources();
    }
  }
}
