// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.micrometer.FerruleMetrics;
import dev.ferrule.spi.ConnectionMonitor;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.Test;

/**
 * docs/observing.md lists the counters, meters, events, loggers and threads of the library exactly.
 */
class ObservingPageTest {

  private static final Pattern LEVEL = Pattern.compile("System\\.Logger\\.Level\\.([A-Z]+)");

  private static final Pattern THREAD =
      Pattern.compile("(?s)(?:\\.name\\(|new Thread\\([^;]*?)\"(ferrule[^\"]*)\"");

  /** Fields that every event has. */
  private static final Set<String> COMMON =
      Set.of("startTime", "duration", "eventThread", "stackTrace", "uri");

  private static List<String> namesIn(String cell) {
    return Pattern.compile("`([^`]+)`").matcher(cell).results().map(name -> name.group(1)).toList();
  }

  /** Returns the rows of the table in a section, as cells. */
  private static List<List<String>> rows(String heading) throws IOException {
    String page = Files.readString(Path.of("../docs/observing.md"));
    int start = page.indexOf("\n## " + heading + "\n");
    assertThat(start).as(heading).isPositive();
    int end = page.indexOf("\n## ", start + 1);
    return page.substring(start, end < 0 ? page.length() : end)
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> Stream.of(line.split("\\|")).map(String::strip).toList())
        .map(cells -> cells.subList(1, cells.size()))
        .toList();
  }

  private static List<String> firstColumn(String heading) throws IOException {
    return rows(heading).stream().flatMap(row -> namesIn(row.getFirst()).stream()).toList();
  }

  private static Map<Path, String> sources() throws IOException {
    Map<Path, String> sources = new TreeMap<>();
    for (String module : Page.LIBRARY) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src/main/java"))) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          sources.put(file, Files.readString(file));
        }
      }
    }
    return sources;
  }

  @Test
  void thePageHasExactlyTheCounters() throws IOException {
    List<String> methods =
        Arrays.stream(ConnectionCounters.class.getDeclaredMethods()).map(Method::getName).toList();

    assertThat(firstColumn("Counters")).containsExactlyInAnyOrderElementsOf(methods);
  }

  @Test
  void thePageHasExactlyTheMetersOfMicrometer() throws IOException {
    Connection connection = mock();
    ConnectionCounters counters = mock();
    when(connection.uri()).thenReturn(URI.create("sm:///dev/shm/app/1/1#1"));
    when(connection.counters()).thenReturn(counters);
    when(counters.retransmissions()).thenReturn(OptionalLong.of(0));
    when(counters.wakeupsSent()).thenReturn(OptionalLong.of(0));
    MeterRegistry registry = new SimpleMeterRegistry();
    new FerruleMetrics(connection).bindTo(registry);

    assertThat(firstColumn("Micrometer"))
        .containsExactlyInAnyOrderElementsOf(
            registry.getMeters().stream().map(meter -> meter.getId().getName()).toList());
  }

  @Test
  void thePageHasExactlyTheEventsAndTheirFields() throws Exception {
    Map<String, Set<String>> expected = new TreeMap<>();
    try (Recording recording = new Recording()) {
      recording.start();
      for (Class<?> type : ConnectionMonitor.class.getDeclaredClasses()) {
        Class.forName(type.getName()); // registers the event
      }
      for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
        if (type.getName().startsWith("dev.ferrule.")) {
          expected.put(
              type.getName(),
              type.getFields().stream()
                  .map(ValueDescriptor::getName)
                  .filter(name -> !COMMON.contains(name))
                  .collect(Collectors.toCollection(TreeSet::new)));
        }
      }
    }
    Map<String, Set<String>> written = new TreeMap<>();
    for (List<String> row : rows("Flight Recorder")) {
      written.put(
          namesIn(row.getFirst()).getFirst(),
          row.size() < 3 ? Set.of() : new TreeSet<>(namesIn(row.get(2))));
    }

    assertThat(expected).hasSize(3);
    assertThat(written).isEqualTo(expected);
  }

  @Test
  void thePageHasExactlyTheLoggersAndTheirLevels() throws IOException {
    Map<String, Set<String>> expected = new TreeMap<>();
    for (Map.Entry<Path, String> source : sources().entrySet()) {
      Set<String> levels =
          LEVEL
              .matcher(source.getValue())
              .results()
              .map(level -> level.group(1))
              .collect(Collectors.toCollection(TreeSet::new));
      if (source.getValue().contains("System.getLogger(")) {
        String path = source.getKey().toString();
        String type = path.substring(path.indexOf("java/") + 5, path.length() - 5);
        expected.put(type.replace('/', '.'), levels);
      } else {
        assertThat(levels).as("%s logs without a logger of its own", source.getKey()).isEmpty();
      }
    }
    Map<String, Set<String>> written = new TreeMap<>();
    for (List<String> row : rows("Logging")) {
      written.put(namesIn(row.getFirst()).getFirst(), new TreeSet<>(namesIn(row.get(1))));
    }

    assertThat(written).isEqualTo(expected);
  }

  @Test
  void thePageHasTheNamesOfAllThreads() throws IOException {
    List<String> names = new ArrayList<>();
    for (String source : sources().values()) {
      Matcher matcher = THREAD.matcher(source);
      names.addAll(matcher.results().map((MatchResult name) -> name.group(1).strip()).toList());
    }
    List<String> written =
        firstColumn("Threads").stream().map(name -> name.replace(" PID/ID", "")).toList();

    assertThat(names).contains("ferrule-sm", "ferrule-connect");
    assertThat(written).containsAll(names);
    assertThat(written).contains("ferrule-rdma"); // named by a constructor's argument
  }
}
