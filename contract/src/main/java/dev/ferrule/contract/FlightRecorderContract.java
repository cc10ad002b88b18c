// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.ferrule.Connection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events of connections in JDK Flight Recorder. */
public abstract class FlightRecorderContract extends Contract {

  private static final String OPENED = "dev.ferrule.ConnectionOpened";
  private static final String ENDED = "dev.ferrule.ConnectionEnded";
  private static final String COUNTERS = "dev.ferrule.ConnectionCounters";

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected FlightRecorderContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  void bothEndsAreRecordedWhenTheyOpenAndWhenTheyEnd(@TempDir Path directory) {
    List<RecordedEvent> events = new ArrayList<>();
    Path file = directory.resolve("connections.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(OPENED);
      recording.enable(ENDED);
      recording.start();
      Pair pair = connect();
      for (int i = 0; i < 3; i++) {
        pair.client().sender().send(MemorySegment.ofArray(new byte[10]));
        pair.server().receiver().receive(PATIENCE).close();
      }
      pair.server().sender().send(MemorySegment.ofArray(new byte[10]));
      pair.client().receiver().receive(PATIENCE).close();
      pair.client().close();
      assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
      pair.server().close();
      eventually( // the end is visible before it is recorded
          "both ends are recorded",
          () -> {
            events.clear();
            events.addAll(recorded(recording, file));
            return events.stream().filter(event -> isOf(event, ENDED, pair)).count() >= 2;
          });

      assertThat(events.stream().filter(event -> isOf(event, OPENED, pair)))
          .extracting(event -> event.getString("uri"))
          .containsExactlyInAnyOrder(
              pair.client().uri().toString(), pair.server().uri().toString());
      assertThat(events.stream().filter(event -> isOf(event, ENDED, pair)))
          .extracting(
              event -> event.getString("uri"),
              event -> event.getString("state"),
              event -> event.getString("failure"),
              event -> event.getLong("messagesSent"),
              event -> event.getLong("messagesReceived"))
          .containsExactlyInAnyOrder(
              tuple(pair.client().uri().toString(), "CLOSED", null, 3L, 1L),
              tuple(pair.server().uri().toString(), "CLOSED_BY_PEER", null, 1L, 3L));
    }
  }

  @Test
  void theCountersOfOpenConnectionsAreRecordedPeriodically() {
    ConcurrentLinkedQueue<RecordedEvent> events = new ConcurrentLinkedQueue<>();
    try (RecordingStream stream = new RecordingStream()) {
      stream.enable(COUNTERS).withPeriod(Duration.ofMillis(20));
      stream.onEvent(COUNTERS, events::add);
      stream.setReuse(false);
      stream.startAsync();
      Pair pair = connect();
      for (int i = 0; i < 7; i++) {
        pair.client().sender().send(MemorySegment.ofArray(new byte[11]));
        pair.server().receiver().receive(PATIENCE).close();
      }

      eventually(
          "the sender's counters are recorded",
          () -> anyShows(events, pair.client(), "Sent", 7, 77));
      eventually(
          "the receiver's counters are recorded",
          () -> anyShows(events, pair.server(), "Received", 7, 77));

      pair.client().close();
      pair.server().close();
    }
  }

  private static List<RecordedEvent> recorded(Recording recording, Path file) {
    try {
      recording.dump(file);
      return RecordingFile.readAllEvents(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean anyShows(
      ConcurrentLinkedQueue<RecordedEvent> events,
      Connection connection,
      String direction,
      long messages,
      long bytes) {
    return events.stream()
        .anyMatch(event ->
            connection.uri().toString().equals(event.getString("uri"))
                && event.getLong("messages" + direction) == messages
                && event.getLong("bytes" + direction) == bytes);
  }

  private static boolean isOf(RecordedEvent event, String type, Pair pair) {
    String uri = event.getEventType().getName().equals(type) ? event.getString("uri") : null;
    return pair.client().uri().toString().equals(uri) || pair.server().uri().toString().equals(uri);
  }
}
