// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The credits of many connections that share one pool of buffers never exceed the buffers. However
 * slow the receiver is, the device refuses no message; with {@code rnrRetry=0}, a refusal would end
 * the connection. {@link CreditsTest} shows that such a test can fail.
 */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CreditsOfManyConnectionsTest {

  private static final int CONNECTIONS = 32;

  /** The messages of each connection: more than its initial credit. */
  private static final int MESSAGES = 100;

  /**
   * Twice the period of the event thread, which meanwhile grants the buffers freed before. The test
   * waits for no event during this pause; after it, no message may be refused.
   */
  private static final Duration PAUSE = Duration.ofMillis(500);

  /** 512 buffers are scarce; with 2048 the shares grow. */
  @ParameterizedTest
  @CsvSource({"off, 512", "off, 2048", "on, 512", "on, 2048"})
  void noMessageIsRefusedOrLostWhileTheCommonReceiverPauses(String singleReceiver, int receives) {
    List<Wires.Pair> pairs = new ArrayList<>();
    try (Listener listener =
        Wires.listen(
            "?rnrRetry=0&maxMessage=4KiB&wait=block&srq=on&receives="
                + receives
                + "&singleReceiver="
                + singleReceiver)) {
      try {
        for (int i = 0; i < CONNECTIONS; i++) {
          pairs.add(Wires.pair(listener, "?rnrRetry=0&maxMessage=4KiB&wait=block"));
        }
        List<Task<Void>> sending = pairs.stream().map(pair -> send(pair.client())).toList();
        pairs.forEach(pair -> CreditsTest.awaitStall(pair.client()));
        assertThat(sending)
            .as("senders that finish although there is no room")
            .noneMatch(Task::isDone);

        Source source = singleReceiver.equals("on") ? common(listener.receiver()) : oneByOne(pairs);
        receiveWithPauses(source, pairs);

        sending.forEach(Task::result);
      } finally {
        pairs.forEach(Wires.Pair::close);
      }
    }
  }

  private static Task<Void> send(Connection connection) {
    return Task.start(() -> {
      for (int i = 0; i < MESSAGES; i++) {
        Numbered.send(connection.sender(), i);
      }
      return null;
    });
  }

  /** Receives all messages and checks their order. Holds some for a while, and pauses at times. */
  private static void receiveWithPauses(Source source, List<Wires.Pair> pairs) {
    Random random = new Random(1);
    Map<Connection, Integer> next = new HashMap<>();
    pairs.forEach(pair -> next.put(pair.server(), 0));
    List<ReceiveRegion> held = new ArrayList<>();
    int all = pairs.size() * MESSAGES;
    for (int i = 0; i < all; i++) {
      ReceiveRegion message = source.next(held);
      Numbered.check(message, next.merge(message.connection(), 1, Integer::sum) - 1);
      held.add(message);
      while (held.size() > random.nextInt(CONNECTIONS)) {
        held.remove(random.nextInt(held.size())).close();
      }
      if (i % (all / 4) == all / 8) {
        Task.pause(PAUSE);
      }
    }
    held.forEach(ReceiveRegion::close);
    assertThat(next).hasSize(pairs.size());
    assertThat(next.values()).containsOnly(MESSAGES);
  }

  /** Receives the messages of all connections, those of each connection in order. */
  private interface Source {

    /**
     * Receives an available message, or returns null; the program holds the messages in the list.
     */
    ReceiveRegion tryNext(List<ReceiveRegion> held);

    /**
     * Waits for a message. While there is none, frees the held messages one after the other, as the
     * senders may lack credit until then.
     */
    default ReceiveRegion next(List<ReceiveRegion> held) {
      ReceiveRegion[] found = {null};
      Task.await(
          "a message arrives",
          () -> {
            found[0] = tryNext(held);
            if (found[0] == null && !held.isEmpty()) {
              held.remove(0).close();
            }
            return found[0] != null;
          });
      return found[0];
    }
  }

  private static Source common(Receiver receiver) {
    return held -> held.isEmpty() ? receiver.receive(Task.PATIENCE) : receiver.tryReceive();
  }

  /** Polls the connections round-robin, except those with a held message. */
  private static Source oneByOne(List<Wires.Pair> pairs) {
    int[] turn = {0};
    return held -> {
      Set<Connection> busy =
          held.stream().map(ReceiveRegion::connection).collect(Collectors.toSet());
      ReceiveRegion found = null;
      for (int i = 0; i < pairs.size() && found == null; i++) {
        turn[0] = (turn[0] + 1) % pairs.size();
        Connection server = pairs.get(turn[0]).server();
        found = busy.contains(server) ? null : server.receiver().tryReceive();
      }
      return found;
    };
  }
}
