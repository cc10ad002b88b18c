// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import dev.ferrule.tools.report.Numbers;
import dev.ferrule.tools.support.TextTable;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The endpoints below an address, and the counters of their connections, at one moment.
 *
 * @param endpoints the endpoints
 * @param samples the connections of those that have counters, by address
 */
record EndpointActivity(List<EndpointInfo> endpoints, Map<URI, List<ConnectionSample>> samples) {

  /** Of an address that does not exist. */
  static final EndpointActivity NONE = new EndpointActivity(List.of(), Map.of());

  private static final double PERCENT = 100;

  static EndpointActivity read(EndpointRegistry registry, URI address) throws IOException {
    Map<URI, List<ConnectionSample>> samples = registry.sample(address);
    return new EndpointActivity(registry.list(address), samples);
  }

  /** Returns the rates of all connections since an earlier moment, the busiest first. */
  List<ConnectionRates> since(EndpointActivity earlier) {
    List<ConnectionRates> rates = new ArrayList<>();
    samples.forEach((endpoint, connections) -> {
      List<ConnectionSample> before = earlier.samples.getOrDefault(endpoint, List.of());
      for (ConnectionSample now : connections) {
        rates.add(
            new ConnectionRates(
                endpoint,
                now,
                before.stream()
                    .filter(sample ->
                        sample.number() == now.number() && sample.peer().equals(now.peer()))
                    .findFirst()
                    .orElse(null)));
      }
    });
    rates.sort(ConnectionRates.BUSIEST);
    return rates;
  }

  /** Returns an endpoint's state as text. */
  private String state(EndpointInfo endpoint) {
    return endpoint.state() == EndpointInfo.State.LIVE && !samples.containsKey(endpoint.address())
        ? "no counters"
        : endpoint.state().name().toLowerCase(Locale.ROOT);
  }

  /** Formats the endpoints and the connections, within a number of lines. */
  String toTables(List<ConnectionRates> rates, int lines) {
    if (endpoints.isEmpty()) {
      return LsCommand.toTable(endpoints);
    }
    String first = cut(LsCommand.toTable(endpoints, this::state), Math.max(2, lines / 3));
    long left = lines - first.lines().count() - 1;
    return first + "\n" + cut(toTable(rates), Math.max(2, left));
  }

  private static String cut(String text, long lines) {
    List<String> all = text.lines().toList();
    if (all.size() <= lines) {
      return text;
    }
    int shown = (int) lines - 1;
    return String.join("\n", all.subList(0, shown)) + "\n… " + (all.size() - shown) + " more\n";
  }

  private static String toTable(List<ConnectionRates> rates) {
    if (rates.isEmpty()) {
      return "no connections\n";
    }
    TextTable table = new TextTable();
    // The connection is first, as a narrow terminal cuts the lines.
    table.cells("connection", "sent/s", "bytes/s", "received/s", "bytes/s");
    table.cells("stalls/s", "sleeps/s", "wakes/s", "ring %", "peer");
    table.endRow();
    for (ConnectionRates rate : rates) {
      table.cells(
          rate.name(),
          text(rate, rate.of(ConnectionCounters::messagesSent)),
          text(rate, rate.of(ConnectionCounters::bytesSent)),
          text(rate, rate.of(ConnectionCounters::messagesReceived)),
          text(rate, rate.of(ConnectionCounters::bytesReceived)),
          text(rate, rate.of(ConnectionCounters::backPressureStalls)),
          text(rate, rate.of(ConnectionCounters::wakeupsReceived)),
          text(rate, rate.wakeupsSent()),
          Long.toString(Math.round(rate.now().sendFill() * PERCENT)),
          rate.now().peer());
      table.endRow();
    }
    return table.toString();
  }

  private static String text(ConnectionRates rate, double value) {
    return rate.isKnown() ? Numbers.scaled(value) : "-";
  }

  /** Adds the endpoints and the connections to a document. */
  void addTo(JsonDocument document, List<ConnectionRates> rates) {
    JsonArray array = new JsonArray();
    for (EndpointInfo endpoint : endpoints) {
      JsonObject object = LsCommand.toJson(endpoint);
      object.addProperty("has_counters", samples.containsKey(endpoint.address()));
      array.add(object);
    }
    document.properties().add("endpoints", array);
    rates.forEach(rate -> document.results().add(toJson(rate)));
  }

  private static JsonObject toJson(ConnectionRates rate) {
    ConnectionCounters counters = rate.now().counters();
    JsonObject object = new JsonObject();
    object.addProperty("endpoint", rate.endpoint().toString());
    object.addProperty("connection", rate.now().number());
    object.addProperty("peer", rate.now().peer());
    if (rate.isKnown()) {
      object.addProperty("sent_messages_per_s", rate.of(ConnectionCounters::messagesSent));
      object.addProperty("sent_bytes_per_s", rate.of(ConnectionCounters::bytesSent));
      object.addProperty("received_messages_per_s", rate.of(ConnectionCounters::messagesReceived));
      object.addProperty("received_bytes_per_s", rate.of(ConnectionCounters::bytesReceived));
      object.addProperty("stalls_per_s", rate.of(ConnectionCounters::backPressureStalls));
      object.addProperty("sleeps_per_s", rate.of(ConnectionCounters::wakeupsReceived));
      object.addProperty("wakes_per_s", rate.wakeupsSent());
    }
    object.addProperty("ring_percent", rate.now().sendFill() * PERCENT);
    object.addProperty("sent_messages", counters.messagesSent());
    object.addProperty("sent_bytes", counters.bytesSent());
    object.addProperty("received_messages", counters.messagesReceived());
    object.addProperty("received_bytes", counters.bytesReceived());
    return object;
  }
}
