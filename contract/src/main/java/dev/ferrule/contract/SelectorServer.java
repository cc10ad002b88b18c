// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.List;

/** A program that answers the messages of many connections, of any providers, in one thread. */
public final class SelectorServer {

  private SelectorServer() {}

  /**
   * Echoes messages until each connection has received a number of them.
   *
   * @param connections the connections, with readiness
   * @param messages the number of messages of each connection
   * @param start starts the clients, when all connections are watched
   * @throws IOException if the selector fails
   */
  public static void serve(List<Connection> connections, int messages, Runnable start)
      throws IOException {
    try (Selector selector = Selector.open()) {
      for (Connection connection : connections) {
        connection.readiness().channel().register(selector, SelectionKey.OP_READ, connection);
      }
      start.run();
      long[] left = {(long) connections.size() * messages};
      while (left[0] > 0) {
        int count =
            selector.select(
                key -> left[0] -= echo((Connection) key.attachment()),
                Contract.PATIENCE.toMillis());
        assertThat(count).as("ready connections, with %d messages left", left[0]).isPositive();
      }
    }
  }

  /** Answers all messages of a connection; returns their number. */
  private static int echo(Connection connection) {
    int count = 0;
    ReceiveRegion message = connection.receiver().tryReceive();
    while (message != null) {
      connection.sender().send(message.segment());
      message.close();
      count++;
      message = connection.receiver().tryReceive();
    }
    return count;
  }
}
