// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.FerruleException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.WaitStrategy;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.ReceiveSource;
import dev.ferrule.rdma.queue.TestQueues;
import dev.ferrule.support.Waiter;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A listener's receiver that finds a message but cannot take it: the listener is closed in between,
 * and the connection's own receiver has the message.
 */
class RdmaReceiverTest {

  private final RdmaReceiver.Owner owner = mock(RdmaReceiver.Owner.class);
  private final RdmaReceiver receiver =
      new RdmaReceiver(owner, mock(ReceiveSource.class), new Waiter(WaitStrategy.SPIN));
  private final Channel taken = TestQueues.channel();

  @BeforeEach
  void offerAMessageThatAnotherReceiverTakes() {
    when(owner.uri()).thenReturn(URI.create("fake://127.0.0.1:7"));
    when(owner.claimMessages()).thenReturn(true);
    when(owner.next()).thenReturn(taken, (Channel) null);
  }

  @Test
  void aPollHandsNothingOver() {
    AtomicInteger handled = new AtomicInteger();

    assertThat(receiver.poll((buffer, offset, length) -> handled.incrementAndGet(), 8)).isZero();

    assertThat(handled).hasValue(0);
  }

  @Test
  void tryReceiveReturnsNothing() {
    assertThat(receiver.tryReceive()).isNull();
  }

  @Test
  void aReceiveReportsTheEnd() {
    FerruleException end =
        new ConnectionClosedException(owner.uri(), true, "the listener is closed", null);
    when(owner.isAtEnd()).thenReturn(true);
    when(owner.end()).thenReturn(end);

    assertThat(receiver.tryReceive()).isNull();
    assertThatThrownBy(receiver::tryReceive).isSameAs(end);
    when(owner.next()).thenReturn(taken, (Channel) null);
    assertThatThrownBy(receiver::receive).isSameAs(end);
  }

  @Test
  void aReceiveReturnsAMessageThatWaitsAtTheEnd() {
    Channel waiting = TestQueues.channelWithMessage();
    when(owner.isAtEnd()).thenReturn(true);
    when(owner.next()).thenReturn(taken, waiting);

    try (ReceiveRegion message = receiver.receive()) {
      assertThat(message.length()).isEqualTo(1);
    }
  }
}
