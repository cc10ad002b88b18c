// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.google.gson.JsonObject;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.spi.EndpointInfo;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The rates between two samples, and their tables. */
class EndpointActivityTest {

  private static final URI SERVER = URI.create("sm:///dev/shm/app/7/1");
  private static final URI CLIENT = URI.create("sm:///dev/shm/app/8/1");
  private static final long SECOND = 1_000_000_000;

  private static EndpointInfo info(URI address) {
    return new EndpointInfo(address, EndpointInfo.State.LIVE, "some process", 1, 4096);
  }

  private static ConnectionSample sample(int number, long nanos, long count, double fill) {
    ConnectionCounters counters = mock();
    when(counters.messagesSent()).thenReturn(count);
    when(counters.bytesSent()).thenReturn(10 * count);
    when(counters.messagesReceived()).thenReturn(2 * count);
    when(counters.bytesReceived()).thenReturn(20 * count);
    when(counters.backPressureStalls()).thenReturn(3 * count);
    when(counters.wakeupsReceived()).thenReturn(4 * count);
    when(counters.wakeupsSent()).thenReturn(OptionalLong.of(5 * count));
    return new ConnectionSample(number, "9/1#" + number, nanos, counters, fill);
  }

  private static EndpointActivity activity(ConnectionSample... ofServer) {
    return new EndpointActivity(
        List.of(info(CLIENT), info(SERVER)), Map.of(SERVER, List.of(ofServer)));
  }

  private static List<String> words(String text, int line) {
    return List.of(text.lines().toList().get(line).strip().split(" {2,}"));
  }

  @Test
  void theRatesAreTheDifferencesPerSecondOfTheProcessesOwnTimes() {
    EndpointActivity now = activity(sample(17, 5 * SECOND, 1400, 0.25));
    List<ConnectionRates> rates = now.since(activity(sample(17, 3 * SECOND, 1000, 1)));

    String tables = now.toTables(rates, 100);
    assertThat(words(tables, 5))
        .containsExactly("7/1#17", "200", "2 k", "400", "4 k", "600", "800", "1 k", "25", "9/1#17");
    JsonDocument document = new JsonDocument("ferrule.top/1", Instant.now());
    now.addTo(document, rates);
    JsonObject row = document.results().get(0).getAsJsonObject();
    assertThat(row.get("sent_messages_per_s").getAsDouble()).isEqualTo(200);
    assertThat(row.get("wakes_per_s").getAsDouble()).isEqualTo(1000);
    assertThat(row.get("sent_messages").getAsLong()).isEqualTo(1400);
  }

  @Test
  void theBusiestConnectionIsFirst() {
    EndpointActivity before = activity(sample(1, 0, 0, 0), sample(2, 0, 0, 0), sample(3, 0, 0, 0));
    EndpointActivity now =
        activity(sample(1, SECOND, 5, 0), sample(2, SECOND, 7, 0), sample(3, SECOND, 6, 0));

    assertThat(now.since(before))
        .extracting(ConnectionRates::name)
        .containsExactly("7/1#2", "7/1#3", "7/1#1");
  }

  @Test
  void aNewConnectionHasNoRates() {
    EndpointActivity now = activity(sample(17, SECOND, 1400, 0));
    List<ConnectionRates> rates = now.since(activity(sample(18, 0, 1000, 0)));

    assertThat(words(now.toTables(rates, 100), 5))
        .startsWith("7/1#17", "-", "-", "-", "-", "-", "-", "-");
    JsonDocument document = new JsonDocument("ferrule.top/1", Instant.now());
    now.addTo(document, rates);
    assertThat(document.results().get(0).getAsJsonObject().has("sent_messages_per_s")).isFalse();
  }

  @Test
  void anEndpointThatHasNotAnsweredHasNoCounters() {
    EndpointActivity now = activity(sample(17, SECOND, 0, 0));

    String tables = now.toTables(now.since(now), 100);
    assertThat(words(tables, 1)).startsWith("no counters", "1");
    assertThat(words(tables, 2)).startsWith("live", "1");
  }

  @Test
  void theTablesFitTheLines() {
    List<ConnectionSample> samples = new ArrayList<>();
    List<EndpointInfo> endpoints = new ArrayList<>();
    for (int i = 1; i <= 100; i++) {
      samples.add(sample(i, SECOND, i, 0));
      endpoints.add(info(URI.create("sm:///dev/shm/app/7/" + i)));
    }
    EndpointActivity now = new EndpointActivity(endpoints, Map.of(SERVER, samples));

    String tables = now.toTables(now.since(EndpointActivity.NONE), 30);
    assertThat(tables.lines()).hasSize(30);
    assertThat(tables).contains("\n… 92 more\n\n").endsWith("\n… 83 more\n");
  }
}
