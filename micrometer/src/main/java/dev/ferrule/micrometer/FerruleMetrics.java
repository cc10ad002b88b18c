// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.micrometer;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the {@linkplain Connection#counters() counters} of a connection as meters, which are
 * removed when the connection ends.
 *
 * {@snippet lang=java :
 * MeterRegistry registry = new SimpleMeterRegistry(); // or that of the monitoring system
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-metrics"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri())); // usually another process
 *   try (Connection connection = listener.accept();
 *       Connection peer = connecting.join()) {
 *     new FerruleMetrics(connection, Tags.of("service", "orders")).bindTo(registry);
 *     peer.sender().send(MemorySegment.ofArray(new byte[100]));
 *     connection.receiver().receive().close();
 *     System.out.println(registry.get("ferrule.received.bytes").functionCounter().count()); // 100.0
 *   }
 * }
 * System.out.println(registry.find("ferrule.received.bytes").functionCounter()); // null
 * }
 *
 * <table>
 * <caption>Meters, all of which are counters</caption>
 * <tr><th>name</th><th>counter</th></tr>
 * <tr><td>{@code ferrule.sent.messages}</td><td>{@link ConnectionCounters#messagesSent}</td></tr>
 * <tr><td>{@code ferrule.sent.bytes}</td><td>{@link ConnectionCounters#bytesSent}</td></tr>
 * <tr><td>{@code ferrule.received.messages}</td>
 *     <td>{@link ConnectionCounters#messagesReceived}</td></tr>
 * <tr><td>{@code ferrule.received.bytes}</td>
 *     <td>{@link ConnectionCounters#bytesReceived}</td></tr>
 * <tr><td>{@code ferrule.backpressure.stalls}</td>
 *     <td>{@link ConnectionCounters#backPressureStalls}</td></tr>
 * <tr><td>{@code ferrule.acknowledgments}</td>
 *     <td>{@link ConnectionCounters#acknowledgments}</td></tr>
 * <tr><td>{@code ferrule.retransmissions}</td>
 *     <td>{@link ConnectionCounters#retransmissions}; absent if it is empty</td></tr>
 * <tr><td>{@code ferrule.wakeups.sent}</td>
 *     <td>{@link ConnectionCounters#wakeupsSent}; absent if it is empty</td></tr>
 * <tr><td>{@code ferrule.wakeups.received}</td>
 *     <td>{@link ConnectionCounters#wakeupsReceived}</td></tr>
 * </table>
 *
 * <p>Each meter has the tag {@code uri}, which is {@link Connection#uri()}, in addition to those of
 * the caller. The number in it distinguishes connections. A program with many short connections
 * replaces it by a {@code MeterFilter} only if another tag distinguishes them: a registry counts
 * the first one alone of several that have the same tags.
 *
 * <p>The values are read when the registry publishes them. There is no cost per message. What a
 * connection has counted since then is not published if it ends.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 */
public final class FerruleMetrics implements MeterBinder {

  private final Connection connection;
  private final Tags tags;

  /**
   * Creates metrics of a connection, to be bound.
   *
   * @param connection the connection
   */
  public FerruleMetrics(Connection connection) {
    this(connection, Tags.empty());
  }

  /**
   * Creates metrics of a connection, to be bound.
   *
   * @param connection the connection
   * @param tags further tags of all its meters
   */
  public FerruleMetrics(Connection connection, Iterable<Tag> tags) {
    this.connection = connection;
    this.tags = Tags.of(tags).and("uri", connection.uri().toString());
  }

  /** Registers the meters. Does nothing if the connection has ended. */
  @Override
  public void bindTo(MeterRegistry registry) {
    List<Meter> meters = new ArrayList<>();
    meters.add(
        counter("sent.messages", BaseUnits.MESSAGES, ConnectionCounters::messagesSent)
            .description("messages published to the peer")
            .register(registry));
    meters.add(
        counter("sent.bytes", BaseUnits.BYTES, ConnectionCounters::bytesSent)
            .description("payload of the messages published to the peer")
            .register(registry));
    meters.add(
        counter("received.messages", BaseUnits.MESSAGES, ConnectionCounters::messagesReceived)
            .description("messages received by the program")
            .register(registry));
    meters.add(
        counter("received.bytes", BaseUnits.BYTES, ConnectionCounters::bytesReceived)
            .description("payload of the messages received by the program")
            .register(registry));
    meters.add(
        counter("backpressure.stalls", null, ConnectionCounters::backPressureStalls)
            .description("claims and sends that found no space")
            .register(registry));
    meters.add(
        counter("acknowledgments", null, ConnectionCounters::acknowledgments)
            .description("how often the peer was informed of free space")
            .register(registry));
    meters.add(
        counter("wakeups.received", null, ConnectionCounters::wakeupsReceived)
            .description("how often a thread of this side blocked and was woken")
            .register(registry));
    ConnectionCounters now = connection.counters();
    if (now.retransmissions().isPresent()) {
      meters.add(
          counter("retransmissions", null, counters -> counters.retransmissions().orElseThrow())
              .description("repeated handshake messages")
              .register(registry));
    }
    if (now.wakeupsSent().isPresent()) {
      meters.add(
          counter("wakeups.sent", null, counters -> counters.wakeupsSent().orElseThrow())
              .description("how often this side woke the sleeping peer")
              .register(registry));
    }
    connection.onClose(ended -> meters.forEach(registry::remove));
  }

  private FunctionCounter.Builder<Connection> counter(
      String name, @Nullable String unit, ToDoubleFunction<ConnectionCounters> value) {
    return FunctionCounter.builder(
            "ferrule." + name, connection, read -> value.applyAsDouble(read.counters()))
        .tags(tags)
        .baseUnit(unit);
  }
}
