// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SenderThreadsTest {

  private static final int SIZE = 16;
  private static final int COUNT = 100;

  /** The connection's number for each message sent, or being sent. */
  private final List<Integer> order = Collections.synchronizedList(new ArrayList<>());

  private final List<List<Thread>> senders = new ArrayList<>();
  private final List<BenchClient> clients = new ArrayList<>();
  private final List<Throughput> throughputs = new ArrayList<>();

  /** The behaviour of a connection when a message is sent. */
  private interface Behaviour {
    void send(CountDownLatch closed) throws InterruptedException;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void connectionsAreDistributedAmongThreadsAndStayWithThem(int threads) {
    for (int i = 0; i < 5; i++) {
      connection(closed -> {});
    }
    try (SenderThreads senderThreads =
        new SenderThreads(clients, threads, Pinning.OFF, problem -> {})) {
      for (int round = 0; round < 3; round++) {
        assertThat(senderThreads.round(throughputs, COUNT)).isPositive();
      }
    }
    assertThat(senders).allSatisfy(sent -> assertThat(sent).hasSize(3 * COUNT));
    for (int i = 0; i < 5; i++) {
      assertThat(senders.get(i)).containsOnly(senders.get(i % threads).get(0));
    }
    assertThat(senders.stream().map(sent -> sent.get(0)).distinct()).hasSize(threads);
    assertThat(senders.get(0)).containsOnly(Thread.currentThread());
  }

  @Test
  void aThreadThatCannotBePinnedStillSends() {
    connection(closed -> {});
    connection(closed -> {});
    try (SenderThreads senderThreads =
        new SenderThreads(clients, 2, PinningTest.failing(), problem -> {})) {
      assertThat(senderThreads.round(throughputs, COUNT)).isPositive();
    }
  }

  @Test
  void oneThreadSendsOnItsConnectionsRoundRobin() {
    connection(closed -> {});
    connection(closed -> {});
    try (SenderThreads senderThreads = new SenderThreads(clients, 1, Pinning.OFF, problem -> {})) {
      senderThreads.round(throughputs, COUNT);
    }
    assertThat(order.subList(0, COUNT)).contains(0, 1);
  }

  @Test
  void aRoundWithoutMessagesEnds() {
    connection(closed -> {});
    connection(closed -> {});
    try (SenderThreads senderThreads = new SenderThreads(clients, 2, Pinning.OFF, problem -> {})) {
      senderThreads.round(throughputs, 0);
    }
    assertThat(order).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void theFirstFailureIsReportedAndEndsTheWaitsOfTheOtherThreads(int lost) {
    for (int i = 0; i < 3; i++) {
      connection(i == lost ? SenderThreadsTest::fail : SenderThreadsTest::block);
    }
    try (SenderThreads senderThreads = new SenderThreads(clients, 3, Pinning.OFF, problem -> {})) {
      assertThatThrownBy(() -> senderThreads.round(throughputs, COUNT))
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining("gone");
    }
  }

  @Test
  void aFailureBeforeTheRoundHasStartedIsReportedAndEndsItForAll() {
    connection(closed -> {});
    connection(closed -> {});
    Sender second = clients.get(1).sender();
    doAnswer(
            call -> {
              throw new PeerLostException(null, "gone", null);
            })
        .when(second)
        .send(any(MemorySegment.class));
    try (SenderThreads senderThreads = new SenderThreads(clients, 2, Pinning.OFF, problem -> {})) {
      assertThatThrownBy(() -> senderThreads.round(throughputs, COUNT))
          .isInstanceOf(PeerLostException.class);
    }
    assertThat(order).isEmpty();
  }

  private static void fail(CountDownLatch closed) {
    throw new PeerLostException(null, "gone", null);
  }

  private static void block(CountDownLatch closed) throws InterruptedException {
    closed.await();
    throw new ConnectionClosedException(null, false, "closed", null);
  }

  /** Adds a connection whose peer confirms all messages. */
  private void connection(Behaviour behaviour) {
    int index = clients.size();
    CountDownLatch closed = new CountDownLatch(1);
    List<Thread> sentBy = Collections.synchronizedList(new ArrayList<>());
    Connection connection = mock(Connection.class);
    Sender sender = mock(Sender.class);
    Receiver receiver = mock(Receiver.class);
    ReceiveRegion region = mock(ReceiveRegion.class);
    long[] count = {0};
    when(connection.uri()).thenReturn(URI.create("test:/" + index));
    when(connection.sender()).thenReturn(sender);
    when(connection.receiver()).thenReturn(receiver);
    doAnswer(
            call -> {
              closed.countDown();
              return null;
            })
        .when(connection)
        .close(any(Duration.class));
    when(sender.send(any(MemorySegment.class)))
        .thenAnswer(call -> {
          count[0] = 0; // a round starts
          return 1L;
        });
    when(sender.send(any(), anyLong(), anyLong()))
        .thenAnswer(call -> {
          behaviour.send(closed);
          count[0]++;
          sentBy.add(Thread.currentThread());
          order.add(index);
          return 1L;
        });
    when(receiver.receive()).thenReturn(region);
    when(region.segment()).thenAnswer(call -> reply(count[0]));
    BenchClient client = new BenchClient(connection, WaitStrategy.ADAPTIVE);
    senders.add(sentBy);
    clients.add(client);
    throughputs.add(new Throughput(client, Arena.ofAuto(), SIZE, new Throughput.Flow(0, 1, false)));
  }

  /** Returns the message sent as {@link RoundReply}. */
  private static MemorySegment reply(long messages) {
    return MemorySegment.ofArray(new long[] {1, messages, messages * SIZE, 0});
  }
}
