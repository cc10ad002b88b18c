// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.contains;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;

import dev.ferrule.rdma.fake.RecordingCallbacks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** One receiver for the messages of many connections. */
class ReceiveMultiplexerTest {

  private static final int CAPACITY = 64;

  private final ReceiveMultiplexer arrivals = new ReceiveMultiplexer(() -> {});

  private FakeChannel collected() {
    FakeChannel channel = FakeChannel.any(CAPACITY, new RecordingCallbacks());
    channel.deliverTo(arrivals);
    return channel;
  }

  private List<Integer> takeAll(IncomingMessages from) {
    List<Integer> taken = new ArrayList<>();
    while (from.hasNext()) {
      taken.add(from.number());
      from.advance();
    }
    return taken;
  }

  @Test
  void shouldTakeTheMessagesOfEachConnectionInTheirOrder() {
    FakeChannel channel = collected();
    for (int i = 0; i < 2 * ReceiveMultiplexer.TURN + 1; i++) {
      channel.bring(i);
    }

    assertThat(arrivals.hasNext()).isTrue();
    assertThat(arrivals.channel()).isSameAs(channel);
    assertThat(arrivals.length()).isZero();
    assertThat(takeAll(arrivals))
        .containsExactlyElementsOf(
            IntStream.rangeClosed(0, 2 * ReceiveMultiplexer.TURN).boxed().toList());
    channel.bring(77);
    assertThat(takeAll(arrivals)).containsExactly(77);
  }

  @Test
  void shouldTakeMessagesThatArrivedBeforeTheCommonReceiver() {
    FakeChannel channel = FakeChannel.any(CAPACITY, new RecordingCallbacks());
    channel.bring(1);

    channel.deliverTo(arrivals);

    assertThat(takeAll(arrivals)).containsExactly(1);
    assertThat(channel.arrivals().claim()).isFalse();
  }

  @Test
  void shouldLeaveMessagesToAReceiverThatHasClaimedThem() {
    FakeChannel channel = FakeChannel.any(CAPACITY, new RecordingCallbacks());
    IncomingMessages own = channel.arrivals();
    assertThat(own.claim()).isTrue();

    channel.deliverTo(arrivals);
    channel.bring(1);

    assertThat(arrivals.hasNext()).isFalse();
    assertThat(own.claim()).isTrue();
    assertThat(takeAll(own)).containsExactly(1);
  }

  @Test
  void shouldServeConnectionsInRotation() {
    FakeChannel busy = collected();
    FakeChannel second = collected();
    FakeChannel late = collected();
    for (int i = 0; i < CAPACITY; i++) {
      busy.bring(i);
    }
    second.bring(1000);

    List<Integer> taken = new ArrayList<>();
    for (int i = 0; i < 3 * ReceiveMultiplexer.TURN + 2; i++) {
      assertThat(arrivals.hasNext()).isTrue();
      taken.add(arrivals.number());
      arrivals.advance();
      if (i == ReceiveMultiplexer.TURN) {
        late.bring(2000);
      }
    }

    assertThat(taken.indexOf(1000)).isEqualTo(ReceiveMultiplexer.TURN);
    assertThat(taken.indexOf(2000)).isBetween(0, 2 * ReceiveMultiplexer.TURN + 1);
  }

  @Test
  void shouldSkipAClosedConnectionEvenIfItsMessageIsNext() {
    FakeChannel closed = collected();
    FakeChannel open = collected();
    closed.bring(1);
    closed.bring(2);
    open.bring(3);
    assertThat(arrivals.hasNext()).isTrue();
    assertThat(arrivals.number()).isEqualTo(1);

    closed.closeReceives();

    assertThat(takeAll(arrivals)).containsExactly(3);
    closed.bring(4);
    assertThat(arrivals.hasNext()).isFalse();
  }

  @Test
  void shouldLeaveMessagesToTheConnectionsOwnReceiverAfterTheEnd() {
    FakeChannel channel = collected();
    IncomingMessages own = channel.arrivals();
    for (int i = 0; i < 5; i++) {
      channel.bring(i);
    }
    assertThat(own.claim()).isFalse();
    assertThat(arrivals.hasNext()).isTrue();
    arrivals.advance();

    arrivals.end();
    channel.bring(5);

    assertThat(arrivals.hasNext()).isFalse();
    assertThat(own.claim()).isTrue();
    assertThat(takeAll(own)).containsExactly(1, 2, 3, 4, 5);
  }

  @Test
  void shouldReportAViolationIfTheInboxIsFull() {
    QueueCallbacks callbacks = mock(QueueCallbacks.class);
    FakeChannel channel = FakeChannel.any(2, callbacks);
    for (int i = 0; i < 3; i++) {
      channel.deliver(i, 0);
    }

    channel.afterPoll();

    verify(callbacks).onProgress();
    verify(callbacks).onViolation(contains("more messages than"));
    verifyNoMoreInteractions(callbacks);
    assertThat(takeAll(channel.arrivals())).containsExactly(0, 1);
  }

  /** Each thread polls for some of the connections, as if they were on a separate device. */
  @Test
  void shouldLoseNoMessageIfSeveralThreadsOfferAndOneTakes() throws Exception {
    int messages = 20_000;
    int devices = 3;
    List<FakeChannel> all = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int d = 0; d < devices; d++) {
      List<FakeChannel> mine = List.of(collected(), collected(), collected());
      all.addAll(mine);
      threads.add(Thread.ofPlatform().start(() -> bringAll(mine, messages)));
    }
    Map<Channel, Integer> next = new HashMap<>();
    int left = all.size() * messages;
    while (left > 0) {
      if (!arrivals.hasNext()) {
        Thread.onSpinWait();
        continue;
      }
      int expected = next.merge(arrivals.channel(), 1, Integer::sum) - 1;
      assertThat(arrivals.number()).isEqualTo(expected);
      arrivals.advance();
      left--;
    }
    for (Thread thread : threads) {
      assertThat(thread.join(Duration.ofMinutes(1))).isTrue();
    }
    assertThat(arrivals.hasNext()).isFalse();
    assertThat(next).hasSize(all.size()).allSatisfy((c, n) -> assertThat(n).isEqualTo(messages));
  }

  private static void bringAll(List<FakeChannel> channels, int messages) {
    for (int i = 0; i < messages; i++) {
      for (FakeChannel channel : channels) {
        while (!channel.inbox().add(i, 0)) {
          Thread.yield(); // a real peer would be out of credit
        }
        channel.afterPoll();
      }
    }
  }

  /** At any time only one receiver takes the messages of a connection. */
  @Test
  void shouldPassEachMessageToOneReceiverIfTheCommonOneEnds() throws Exception {
    for (int round = 0; round < 200; round++) {
      ReceiveMultiplexer common = new ReceiveMultiplexer(() -> {});
      FakeChannel channel = FakeChannel.any(CAPACITY, new RecordingCallbacks());
      channel.deliverTo(common);
      for (int i = 0; i < CAPACITY; i++) {
        channel.bring(i);
      }
      Thread ending = Thread.ofPlatform().start(common::end);
      List<Integer> taken = takeAll(common);
      assertThat(ending.join(Duration.ofMinutes(1))).isTrue();
      IncomingMessages own = channel.arrivals();
      assertThat(own.claim()).isTrue();
      taken.addAll(takeAll(own));
      assertThat(taken).containsExactlyElementsOf(IntStream.range(0, CAPACITY).boxed().toList());
    }
  }
}
