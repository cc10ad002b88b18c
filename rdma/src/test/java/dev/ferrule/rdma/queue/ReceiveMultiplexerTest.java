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

  private static int take(Channel channel) {
    return MessageQueue.number(channel.messages().take());
  }

  private static List<Integer> takeAll(ReceiveMultiplexer from) {
    List<Integer> taken = new ArrayList<>();
    for (Channel next = from.next(); next != null; next = from.next()) {
      long message = next.messages().take();
      if (message != MessageQueue.NONE) {
        taken.add(MessageQueue.number(message));
      }
    }
    return taken;
  }

  private static List<Integer> takeAll(Channel from) {
    List<Integer> taken = new ArrayList<>();
    while (from.messages().hasNext()) {
      taken.add(take(from));
    }
    return taken;
  }

  @Test
  void shouldTakeTheMessagesOfEachConnectionInTheirOrder() {
    FakeChannel channel = collected();
    for (int i = 0; i < 2 * ReceiveMultiplexer.TURN + 1; i++) {
      channel.bring(i);
    }

    assertThat(arrivals.next()).isSameAs(channel);
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
    assertThat(channel.messages().claim()).isFalse();
  }

  @Test
  void shouldLeaveMessagesToAReceiverThatHasClaimedThem() {
    FakeChannel channel = FakeChannel.any(CAPACITY, new RecordingCallbacks());
    MessageQueue own = channel.messages();
    assertThat(own.claim()).isTrue();

    channel.deliverTo(arrivals);
    channel.bring(1);

    assertThat(arrivals.next()).isNull();
    assertThat(own.claim()).isTrue();
    assertThat(takeAll(channel)).containsExactly(1);
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
      taken.add(take(arrivals.next()));
      if (i == ReceiveMultiplexer.TURN) {
        late.bring(2000);
      }
    }

    assertThat(taken.indexOf(1000)).isEqualTo(ReceiveMultiplexer.TURN);
    assertThat(taken.indexOf(2000)).isBetween(0, 2 * ReceiveMultiplexer.TURN + 1);
  }

  /** Freed space need not be reported immediately, but a peer that waits for it sends nothing. */
  @Test
  void shouldServeThePeerOfAConnectionWithoutMessagesWhileOthersAreBusy() {
    FakeChannel served = collected();
    FakeChannel busy = collected();
    FakeChannel idle = collected();
    assertThat(arrivals.next()).isNull();
    int before = served.served;
    served.bring(1);
    for (int i = 0; i < CAPACITY; i++) {
      busy.bring(i);
    }

    assertThat(take(arrivals.next())).isEqualTo(1);
    assertThat(served.served).isEqualTo(before);
    assertThat(arrivals.next()).isSameAs(busy);
    assertThat(served.served).isEqualTo(before + 1);
    assertThat(idle.served).isEqualTo(1);

    served.free(1);
    assertThat(takeAll(arrivals)).hasSize(CAPACITY);
    assertThat(served.served).isEqualTo(before + 2);
    assertThat(idle.served).isEqualTo(1);
  }

  @Test
  void shouldSkipAClosedConnectionEvenIfItsMessageIsNext() {
    FakeChannel closed = collected();
    FakeChannel open = collected();
    closed.bring(1);
    closed.bring(2);
    open.bring(3);
    assertThat(arrivals.next()).isSameAs(closed);

    closed.closeReceives();

    assertThat(takeAll(arrivals)).containsExactly(3);
    closed.bring(4);
    assertThat(arrivals.next()).isNull();
  }

  @Test
  void shouldLeaveMessagesToTheConnectionsOwnReceiverAfterTheEnd() {
    FakeChannel channel = collected();
    MessageQueue own = channel.messages();
    for (int i = 0; i < 5; i++) {
      channel.bring(i);
    }
    assertThat(own.claim()).isFalse();
    assertThat(take(arrivals.next())).isZero();

    arrivals.end();
    channel.bring(5);

    assertThat(arrivals.next()).isNull();
    assertThat(own.claim()).isTrue();
    assertThat(takeAll(channel)).containsExactly(1, 2, 3, 4, 5);
  }

  @Test
  void shouldReportAViolationIfTheQueueIsFull() {
    QueueCallbacks callbacks = mock(QueueCallbacks.class);
    FakeChannel channel = FakeChannel.any(2, callbacks);
    for (int i = 0; i < 3; i++) {
      channel.deliver(i, 0);
    }

    channel.afterPoll();

    verify(callbacks).onProgress();
    verify(callbacks).onViolation(contains("more messages than"));
    verifyNoMoreInteractions(callbacks);
    assertThat(takeAll(channel)).containsExactly(0, 1);
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
      Channel channel = arrivals.next();
      if (channel == null) {
        Thread.onSpinWait();
        continue;
      }
      int expected = next.merge(channel, 1, Integer::sum) - 1;
      assertThat(take(channel)).isEqualTo(expected);
      left--;
    }
    for (Thread thread : threads) {
      assertThat(thread.join(Duration.ofMinutes(1))).isTrue();
    }
    assertThat(arrivals.next()).isNull();
    assertThat(next).hasSize(all.size()).allSatisfy((c, n) -> assertThat(n).isEqualTo(messages));
  }

  private static void bringAll(List<FakeChannel> channels, int messages) {
    for (int i = 0; i < messages; i++) {
      for (FakeChannel channel : channels) {
        while (!channel.messages().add(i, 0)) {
          Thread.yield(); // a real peer would be out of credit
        }
        channel.afterPoll();
      }
    }
  }

  /** At any time, only one receiver takes the messages of a connection. */
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
      MessageQueue own = channel.messages();
      assertThat(own.claim()).isTrue();
      taken.addAll(takeAll(channel));
      assertThat(taken).containsExactlyElementsOf(IntStream.range(0, CAPACITY).boxed().toList());
    }
  }
}
