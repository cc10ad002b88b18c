// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.FerruleException;
import dev.ferrule.Sender;
import dev.ferrule.WaitStrategy;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.ReceiveSource;
import dev.ferrule.rdma.queue.TestQueues;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.Waiter;
import dev.ferrule.verbs.cm.CmEvent;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The event requests that a readiness makes at a receive queue of many connections. The queue
 * repeats a request after each event.
 */
class ReadinessRequestTest {

  private final FakeManager manager = new FakeManager();
  private final FakeProvider provider = new FakeProvider(manager);
  private final AtomicInteger requests = new AtomicInteger();

  @BeforeEach
  void acceptAll() {
    manager.onAccept = id -> manager.hold(CmEvent.Type.ESTABLISHED, id, 0, new byte[0]);
    when(manager.device.verbs.reqNotifyCq(any(), anyLong(), anyInt()))
        .thenAnswer(call -> {
          requests.incrementAndGet();
          return 0;
        });
    provider.sends = TestQueues.protocol();
  }

  @AfterEach
  void close() {
    manager.close();
  }

  private Connection accept(RdmaListener listener) {
    manager.bringClient(FakeProvider.hello(Hello.Kind.CONNECT));
    return listener.accept();
  }

  /** Returns whether a queue requests another event when the requested one arrives. */
  private boolean repeatsItsRequest(ReceiveQueue queue) {
    int before = requests.get();
    queue.onEvent();
    return requests.get() > before;
  }

  @Test
  void aConnectionWithdrawsTheRequestOfItsReceiverWhenItEnds() {
    try (RdmaListener listener =
            provider.listen("?singleReceiver=on&readiness=receive&closeTimeout=0s");
        Connection connection = accept(listener)) {
      ReceiveQueue queue = listener.groups().queues()[0];
      assertThat(connection.receiver().tryReceive()).isNull();
      assertThat(repeatsItsRequest(queue)).isTrue();

      connection.close(Duration.ZERO);

      assertThat(repeatsItsRequest(queue)).isFalse();
    }
  }

  @Test
  void aConnectionWithdrawsTheRequestsOfItsSendersWhenItEnds() {
    try (RdmaListener listener =
            provider.listen("?singleReceiver=on&readiness=all&closeTimeout=0s&unacked=4");
        Connection connection = accept(listener)) {
      ReceiveQueue queue = listener.groups().queues()[0];
      for (int i = 0; i < 4; i++) {
        connection.sender().claim(8);
      }
      Sender further = connection.newSender();
      assertThat(connection.sender().tryClaim(8)).isNull();
      assertThat(further.tryClaim(8)).isNull();
      assertThat(repeatsItsRequest(queue)).isTrue();

      connection.close(Duration.ZERO);

      assertThat(repeatsItsRequest(queue)).isFalse();
    }
  }

  @Test
  void aListenerWithdrawsTheRequestOfItsReceiverWhenItIsClosed() {
    RdmaListener listener = provider.listen("?singleReceiver=on&readiness=receive&closeTimeout=0s");
    try (Connection connection = accept(listener)) {
      ReceiveQueue queue = listener.groups().queues()[0];
      assertThat(listener.receiver().tryReceive()).isNull();
      assertThat(repeatsItsRequest(queue)).isTrue();

      listener.close();

      assertThat(connection.failure()).isNull();
      assertThat(repeatsItsRequest(queue)).isFalse();
    } finally {
      listener.close();
    }
  }

  @Test
  void aRequestThatIsMadeDuringTheEndIsWithdrawn() {
    RdmaReceiver.Owner owner = mock(RdmaReceiver.Owner.class);
    when(owner.uri()).thenReturn(FakeProvider.ADDRESS);
    when(owner.claimMessages()).thenReturn(true);
    ReceiveSource queue = mock(ReceiveSource.class);
    RdmaReceiver receiver = new RdmaReceiver(owner, queue, new Waiter(WaitStrategy.SPIN));
    receiver.showMessages(
        new ReadinessDescriptor(
            FakeProvider.ADDRESS, () -> new ReadinessDescriptor.Event(1, on -> {}, () -> {})));
    FerruleException end = new FerruleException(owner.uri(), "the end", null);
    when(owner.end()).thenReturn(end);
    doAnswer(
            call -> {
              when(owner.isAtEnd()).thenReturn(true);
              receiver.withdrawRequest();
              return null;
            })
        .when(queue)
        .arm();

    assertThatThrownBy(receiver::tryReceive).isSameAs(end);

    verify(queue).disarm();
  }
}
