// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FerruleMetricsTest {

  private static final int LENGTH = 100;

  @TempDir Path directory;

  private final MeterRegistry registry = new SimpleMeterRegistry();
  private Listener listener;
  private Connection server;
  private Connection client;

  @BeforeEach
  void connect() {
    listener = Ferrule.listen(URI.create("sm://" + directory));
    CompletableFuture<Connection> connecting =
        CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
    server = listener.accept();
    client = connecting.join();
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    listener.close();
  }

  private void sendOne() {
    client.sender().send(MemorySegment.ofArray(new byte[LENGTH]));
    try (ReceiveRegion message = server.receiver().receive()) {
      assertThat(message.length()).isEqualTo(LENGTH);
    }
  }

  private double count(String name, Connection connection) {
    return registry.get(name).tag("uri", connection.uri().toString()).functionCounter().count();
  }

  @Test
  void theMetersHaveTheValuesOfTheCountersAtTheTimeOfReading() {
    new FerruleMetrics(client).bindTo(registry);
    new FerruleMetrics(server).bindTo(registry);
    for (int messages = 1; messages <= 3; messages++) {
      sendOne();
      assertThat(count("ferrule.sent.messages", client)).isEqualTo(messages);
      assertThat(count("ferrule.sent.bytes", client)).isEqualTo(messages * LENGTH);
      assertThat(count("ferrule.received.messages", server)).isEqualTo(messages);
      assertThat(count("ferrule.received.bytes", server)).isEqualTo(messages * LENGTH);
      assertThat(count("ferrule.received.messages", client)).isZero();
      assertThat(count("ferrule.sent.messages", server)).isZero();
    }
  }

  @Test
  void eachCounterHasAMeterOfItsOwn() {
    Connection connection = mock();
    ConnectionCounters counters = mock();
    when(connection.uri()).thenReturn(URI.create("some:thing#1"));
    when(connection.counters()).thenReturn(counters);
    when(counters.messagesSent()).thenReturn(1L);
    when(counters.bytesSent()).thenReturn(2L);
    when(counters.messagesReceived()).thenReturn(3L);
    when(counters.bytesReceived()).thenReturn(4L);
    when(counters.backPressureStalls()).thenReturn(5L);
    when(counters.acknowledgments()).thenReturn(6L);
    when(counters.retransmissions()).thenReturn(OptionalLong.of(7));
    when(counters.wakeupsSent()).thenReturn(OptionalLong.of(8));
    when(counters.wakeupsReceived()).thenReturn(9L);

    new FerruleMetrics(connection).bindTo(registry);

    assertThat(registry.getMeters()).hasSize(9);
    assertThat(count("ferrule.sent.messages", connection)).isEqualTo(1);
    assertThat(count("ferrule.sent.bytes", connection)).isEqualTo(2);
    assertThat(count("ferrule.received.messages", connection)).isEqualTo(3);
    assertThat(count("ferrule.received.bytes", connection)).isEqualTo(4);
    assertThat(count("ferrule.backpressure.stalls", connection)).isEqualTo(5);
    assertThat(count("ferrule.acknowledgments", connection)).isEqualTo(6);
    assertThat(count("ferrule.retransmissions", connection)).isEqualTo(7);
    assertThat(count("ferrule.wakeups.sent", connection)).isEqualTo(8);
    assertThat(count("ferrule.wakeups.received", connection)).isEqualTo(9);
  }

  @Test
  void aCounterThatTheTransportCannotMaintainHasNoMeter() {
    Connection connection = mock();
    ConnectionCounters counters = mock();
    when(connection.uri()).thenReturn(URI.create("some:thing#1"));
    when(connection.counters()).thenReturn(counters);
    when(counters.retransmissions()).thenReturn(OptionalLong.empty());
    when(counters.wakeupsSent()).thenReturn(OptionalLong.empty());

    new FerruleMetrics(connection).bindTo(registry);

    assertThat(registry.getMeters())
        .extracting(meter -> meter.getId().getName())
        .hasSize(7)
        .doesNotContain("ferrule.retransmissions", "ferrule.wakeups.sent");
  }

  @Test
  void theMetersHaveTheTagsOfTheCaller() {
    new FerruleMetrics(client, Tags.of("peer", "orders")).bindTo(registry);

    assertThat(registry.getMeters())
        .isNotEmpty()
        .allSatisfy(meter ->
            assertThat(meter.getId().getTags())
                .containsExactlyInAnyOrder(
                    Tag.of("peer", "orders"), Tag.of("uri", client.uri().toString())));
  }

  @Test
  void theMetersAreRemovedWhenThisSideCloses() {
    new FerruleMetrics(client).bindTo(registry);
    new FerruleMetrics(server).bindTo(registry);

    client.close();

    assertThat(registry.find("ferrule.sent.messages").tag("uri", client.uri().toString()).meters())
        .isEmpty();
  }

  @Test
  void theMetersAreRemovedWhenThePeerCloses() throws Exception {
    new FerruleMetrics(server).bindTo(registry);
    CompletableFuture<Void> removed = new CompletableFuture<>();
    registry.config().onMeterRemoved(meter -> completeIfEmpty(removed));

    client.close();

    removed.get();
    assertThat(registry.getMeters()).isEmpty();
  }

  private void completeIfEmpty(CompletableFuture<Void> removed) {
    if (registry.getMeters().isEmpty()) {
      removed.complete(null);
    }
  }

  @Test
  void aConnectionThatHasEndedGetsNoMeters() {
    client.close(Duration.ZERO);

    new FerruleMetrics(client).bindTo(registry);

    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void meterNamesFollowTheConventionOfPrometheus() {
    PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new FerruleMetrics(client).bindTo(prometheus);
    sendOne();

    String label = "{uri=\"" + client.uri() + "\"} ";
    assertThat(prometheus.scrape())
        .contains("ferrule_sent_messages_total" + label + "1.0\n")
        .contains("ferrule_sent_bytes_total" + label + "100.0\n")
        .contains("ferrule_received_messages_total" + label + "0.0\n")
        .contains("ferrule_received_bytes_total" + label + "0.0\n")
        .contains("ferrule_backpressure_stalls_total" + label)
        .contains("ferrule_acknowledgments_total" + label)
        .contains("ferrule_retransmissions_total" + label)
        .contains("ferrule_wakeups_sent_total" + label)
        .contains("ferrule_wakeups_received_total" + label);
    assertThat(prometheus.getMeters()).extracting(Meter::getId).hasSize(9);
  }
}
