// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.PeerLostException;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConnectionMonitorTest {

  private static final String OPENED = "dev.ferrule.ConnectionOpened";
  private static final String ENDED = "dev.ferrule.ConnectionEnded";
  private static final String COUNTERS = "dev.ferrule.ConnectionCounters";
  private static final URI ADDRESS = URI.create("sm:///tmp/app/4567/2#17");

  private ConnectionCounters counters =
      new Counters(1, 2, 3, 4, 5, 6, OptionalLong.of(7), OptionalLong.of(8), 9);

  private record Counters(
      long messagesSent,
      long bytesSent,
      long messagesReceived,
      long bytesReceived,
      long backPressureStalls,
      long acknowledgments,
      OptionalLong retransmissions,
      OptionalLong wakeupsSent,
      long wakeupsReceived)
      implements ConnectionCounters {
    @Override
    public Optional<String> rmaPath() {
      return Optional.of("cma");
    }
  }

  @TempDir Path directory;

  @Test
  void aConnectionOpensAndEndsOnce() throws IOException {
    Connection connection = connection(ConnectionState.CLOSED, null);

    List<RecordedEvent> events =
        record(() -> {
          ConnectionMonitor.opened(connection);
          ConnectionMonitor.ended(connection);
          ConnectionMonitor.ended(connection);
        });

    assertThat(events)
        .extracting(event -> event.getEventType().getName())
        .containsExactly(OPENED, ENDED);
    assertThat(events)
        .allSatisfy(event -> assertThat(event.getString("uri")).isEqualTo(ADDRESS.toString()));
    RecordedEvent ended = events.get(1);
    assertThat(ended.getString("state")).isEqualTo("CLOSED");
    assertThat(ended.getString("failure")).isNull();
    assertThat(ended.getLong("messagesSent")).isEqualTo(1);
    assertThat(ended.getLong("messagesReceived")).isEqualTo(3);
  }

  @Test
  void aFailedConnectionRecordsItsFailure() throws IOException {
    Connection connection =
        connection(ConnectionState.FAILED, new PeerLostException(ADDRESS, "the peer died", null));

    List<RecordedEvent> events =
        record(() -> {
          ConnectionMonitor.opened(connection);
          ConnectionMonitor.ended(connection);
        });

    assertThat(events.get(1).getString("state")).isEqualTo("FAILED");
    assertThat(events.get(1).getString("failure")).isEqualTo(ADDRESS + ": the peer died");
  }

  @Test
  void aConnectionThatWasNeverOpenedDoesNotEnd() throws IOException {
    assertThat(record(() -> ConnectionMonitor.ended(connection(ConnectionState.CLOSED, null))))
        .isEmpty();
  }

  @Test
  void disabledEventsAreNotRecorded() throws IOException {
    Connection connection = connection(ConnectionState.CLOSED, null);
    Path file = directory.resolve("nothing.jfr");
    try (Recording recording = new Recording()) {
      recording.disable(OPENED);
      recording.disable(ENDED);
      recording.start();
      ConnectionMonitor.opened(connection);
      ConnectionMonitor.ended(connection);
      recording.stop();
      recording.dump(file);
    }

    assertThat(RecordingFile.readAllEvents(file))
        .noneMatch(event -> event.getEventType().getName().startsWith("dev.ferrule."));
  }

  @Test
  void theCountersOfAnOpenConnectionAreRecordedPeriodically() throws InterruptedException {
    Connection connection = connection(ConnectionState.OPEN, null);
    AtomicReference<RecordedEvent> recorded = new AtomicReference<>();
    CountDownLatch latch = new CountDownLatch(1);
    try (RecordingStream stream = new RecordingStream()) {
      stream.enable(COUNTERS).withPeriod(Duration.ofMillis(10));
      stream.setReuse(false);
      stream.onEvent(
          COUNTERS,
          event -> {
            recorded.set(event);
            latch.countDown();
          });
      ConnectionMonitor.opened(connection);
      stream.startAsync();
      assertThat(latch.await(2, TimeUnit.MINUTES)).as("recorded before the timeout").isTrue();
    } finally {
      ConnectionMonitor.ended(connection);
    }

    RecordedEvent event = recorded.get();
    assertThat(event.getString("uri")).isEqualTo(ADDRESS.toString());
    assertThat(
            List.of(
                    "messagesSent",
                    "bytesSent",
                    "messagesReceived",
                    "bytesReceived",
                    "backPressureStalls",
                    "acknowledgments",
                    "retransmissions",
                    "wakeupsSent",
                    "wakeupsReceived")
                .stream()
                .map(event::getLong))
        .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(event.getString("rmaPath")).isEqualTo("cma");
  }

  @Test
  void aCounterThatTheTransportCannotCountIsNotAvailableInItsEvent() throws Exception {
    counters = new Counters(1, 2, 3, 4, 5, 6, OptionalLong.empty(), OptionalLong.empty(), 9);
    Connection connection = connection(ConnectionState.OPEN, null);
    Path file = directory.resolve("counters.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(COUNTERS).with("period", "endChunk");
      recording.start();
      ConnectionMonitor.opened(connection);
      recording.stop();
      recording.dump(file);
    } finally {
      ConnectionMonitor.ended(connection);
    }

    assertThat(RecordingFile.readAllEvents(file))
        .filteredOn(event -> event.getEventType().getName().equals(COUNTERS))
        .isNotEmpty()
        .allSatisfy(event -> {
          assertThat(event.getLong("retransmissions")).isEqualTo(Long.MIN_VALUE);
          assertThat(event.getLong("wakeupsSent")).isEqualTo(Long.MIN_VALUE);
          assertThat(event.getLong("wakeupsReceived")).isEqualTo(9);
        });
    assertThat(String.join("\n", output("jfr", "print", "--events", COUNTERS, file.toString())))
        .contains("retransmissions = N/A", "wakeupsSent = N/A", "wakeupsReceived = 9");
  }

  /** A program that opens and ends a connection, and then starts Flight Recorder. */
  static final class WithoutRecording {
    public static void main(String[] arguments) {
      Connection connection = mock(Connection.class);
      ConnectionMonitor.opened(connection);
      ConnectionMonitor.ended(connection);
      System.out.println("connection ended");
      FlightRecorder.getFlightRecorder().getEventTypes().stream()
          .map(EventType::getName)
          .filter(name -> name.startsWith("dev.ferrule."))
          .forEach(System.out::println);
    }
  }

  @Test
  void aConnectionWithoutARecordingDoesNotStartFlightRecorder() throws Exception {
    List<String> output =
        output(
            "java",
            "-Xlog:class+load",
            "-cp",
            System.getProperty("java.class.path"),
            WithoutRecording.class.getName());

    assertThat(output).contains("connection ended");
    int ended = output.indexOf("connection ended");
    assertThat(output.subList(0, ended))
        .anyMatch(line -> line.contains(ConnectionMonitor.class.getName() + " "))
        .noneMatch(line -> line.contains("jdk.jfr.internal.MetadataRepository "));
    assertThat(output.subList(ended, output.size()))
        .anyMatch(line -> line.contains("jdk.jfr.internal.MetadataRepository "))
        .contains(OPENED, ENDED, COUNTERS);
  }

  /** Returns the output of a tool of the JDK, its errors included. */
  private static List<String> output(String tool, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(arguments));
    command.addFirst(Path.of(System.getProperty("java.home"), "bin", tool).toString());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      return lines.lines().toList();
    }
  }

  private Connection connection(ConnectionState state, FerruleException failure) {
    Connection connection = mock(Connection.class);
    when(connection.uri()).thenReturn(ADDRESS);
    when(connection.state()).thenReturn(state);
    when(connection.failure()).thenReturn(failure);
    when(connection.counters()).thenReturn(counters);
    return connection;
  }

  private List<RecordedEvent> record(Runnable action) throws IOException {
    Path file = directory.resolve("events.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(OPENED);
      recording.enable(ENDED);
      recording.start();
      action.run();
      recording.stop();
      recording.dump(file);
    }
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().startsWith("dev.ferrule."))
        .toList();
  }
}
