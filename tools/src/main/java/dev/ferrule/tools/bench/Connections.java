// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.tools.support.CommandHandshake;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.ToolException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** The connections of a measurement, all to one server. */
public final class Connections implements AutoCloseable {

  private final List<Guarded<Connection>> connections = new ArrayList<>();
  private final List<BenchClient> clients = new ArrayList<>();

  /**
   * Connects.
   *
   * @param endpoint the server's address and the connection's options
   * @param count the number of connections
   */
  public Connections(ConfiguredAddress endpoint, int count) {
    try {
      while (clients.size() < count) {
        add(connect(endpoint), endpoint, null);
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private Connections() {}

  /**
   * Opens one connection, for measurements in one direction.
   *
   * @param endpoint the server's address and the connection's options
   * @return the connection; {@link BenchClient#isOneWay} is true of its client
   */
  public static Connections oneWay(ConfiguredAddress endpoint) {
    Connections result = new Connections();
    long measurement = ThreadLocalRandom.current().nextLong();
    result.add(
        connect(endpoint, new OneWayRequest(measurement, OneWayRequest.NONE).toBytes()),
        endpoint,
        index -> report(endpoint, new OneWayRequest(measurement, index)));
    return result;
  }

  private static Connection connect(ConfiguredAddress endpoint, byte... request) {
    return CommandHandshake.BENCHMARK.connect(endpoint.address(), endpoint.options(), request);
  }

  private static OneWayReport report(ConfiguredAddress endpoint, OneWayRequest request) {
    try (Connection connection = connect(endpoint, request.toBytes())) {
      return CommandHandshake.BENCHMARK
          .more(connection.peerPayload())
          .map(OneWayReport::of)
          .orElseThrow(); // checked when connecting
    }
  }

  private void add(
      Connection connection,
      ConfiguredAddress endpoint,
      @Nullable IntFunction<OneWayReport> reports) {
    connections.add(Guarded.of(connection));
    clients.add(new BenchClient(connection, endpoint.waitStrategy(), reports));
  }

  /** {@return one client for each connection, in the order of connecting} */
  public List<BenchClient> clients() {
    return clients;
  }

  /**
   * Checks that the server accepts messages of a length.
   *
   * @param longest the longest message to be measured, in bytes
   * @param remedy how to raise the server's limit; the message appends the length
   */
  public void requireRoomFor(int longest, String remedy) {
    Connection first = connections.get(0).get();
    int limit = first.sender().maxMessage();
    if (longest > limit) {
      throw new ToolException(
          ExitCode.USAGE,
          "%s: messages of %3$s bytes exceed the server's limit of %2$s; %4$s%3$s"
              .formatted(first.uri(), limit, longest, remedy));
    }
  }

  /** Closes all connections even if one of them fails. */
  @Override
  public void close() {
    clients.forEach(BenchClient::close);
    RuntimeException failure = null;
    for (Guarded<Connection> connection : connections.reversed()) {
      try {
        connection.close();
      } catch (RuntimeException e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
