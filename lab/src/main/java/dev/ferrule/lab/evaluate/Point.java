// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.JsonObject;
import dev.ferrule.lab.model.Concurrency;
import dev.ferrule.lab.model.Load;
import dev.ferrule.lab.model.Processors;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A point of an experiment on Ferrule's own connections.
 *
 * @param sizeBytes the length of the messages, or accesses
 * @param connections the number of connections measured at once
 * @param unacked the maximum number of incomplete messages on each connection; 0 for no limit but
 *     the available buffers
 * @param pauseNanos the time that the receiver spends with each message, in nanoseconds
 * @param waiting the wait strategy of both sides, as in a URI's query
 */
record Point(
    String experiment,
    String provider,
    Kind kind,
    int sizeBytes,
    int connections,
    int threads,
    int unacked,
    int batch,
    int pauseNanos,
    String waiting,
    Map<String, String> server,
    Map<String, String> client,
    Processors processors)
    implements Task {

  /** What is measured. */
  enum Kind {
    /** Half the round trip. */
    LATENCY,
    /** Messages and bytes per second. */
    BANDWIDTH,
    /** Single calls. */
    CALLS,
    /** Reads and writes of the server's memory. */
    RMA,
    /** The number of messages that are sent before one finds no receive. */
    OVERRUN
  }

  Point {
    server = new TreeMap<>(server);
    client = new TreeMap<>(client);
  }

  @Override
  public JsonObject description() {
    JsonObject object = new JsonObject();
    object.addProperty("experiment", experiment);
    object.addProperty("provider", provider);
    object.addProperty("kind", kind.name().toLowerCase(Locale.ROOT));
    object.addProperty("size_bytes", sizeBytes);
    object.addProperty("connections", connections);
    object.addProperty("threads", threads);
    object.addProperty("unacked", unacked);
    object.addProperty("batch", batch);
    if (kind == Kind.OVERRUN) {
      object.addProperty("pause_ns", pauseNanos);
    }
    object.addProperty("wait", waiting);
    object.add("server", options(server));
    object.add("client", options(client));
    return object;
  }

  private static JsonObject options(Map<String, String> options) {
    JsonObject object = new JsonObject();
    options.forEach(object::addProperty);
    return object;
  }

  @Override
  public JsonObject run(Workbench bench) {
    return bench.measure(this);
  }

  @Override
  public Optional<Concurrency> concurrency() {
    if (kind != Kind.LATENCY && kind != Kind.BANDWIDTH) {
      return Optional.empty();
    }
    return Optional.of(
        new Concurrency(
            new Load(sizeBytes, Math.max(1, unacked), batch),
            connections,
            threads,
            receivers(),
            processors));
  }

  @Override
  public Object setup() {
    return List.of(waiting, server, client, connections, busyThreads());
  }

  /** Returns the number of busy threads of both sides. */
  int busyThreads() {
    return threads + receivers();
  }

  private int receivers() {
    return receivers(server, connections);
  }

  /** Returns the number of receiving threads of a listener with some options. */
  static int receivers(Map<String, String> server, int connections) {
    return "on".equals(server.get("singleReceiver")) ? 1 : connections;
  }
}
