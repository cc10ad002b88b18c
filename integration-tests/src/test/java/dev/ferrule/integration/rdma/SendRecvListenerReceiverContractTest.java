// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.contract.AllocationContract;
import dev.ferrule.contract.ListenerReceiverDifferences;
import dev.ferrule.contract.ProviderUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A listener's common receiver behaves like that of a single connection. */
@ExtendWith(ListenerReceiverDifferences.class)
class SendRecvListenerReceiverContractTest extends RdmaMessagingContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecvViaListenerReceiver("singleReceiver", "on");
  }

  @Nested
  class Allocation extends AllocationContract {
    Allocation() {
      super(underTest());
    }
  }

  /** More clients may connect, so it is never certain that nothing can arrive. */
  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void holdingAllBuffersOfOneConnectionIsNoErrorAndStopsNoOther() {
    String query = "?maxMessage=4KiB&receives=8";
    try (Listener listener = Wires.listen(query + "&singleReceiver=on");
        Wires.Pair held = Wires.pair(listener, query);
        Wires.Pair other = Wires.pair(listener, query)) {
      Receiver receiver = listener.receiver();
      List<ReceiveRegion> messages = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Numbered.send(held.client().sender(), i);
        messages.add(receiver.receive(Task.PATIENCE));
      }
      assertThat(held.client().sender().tryClaim(1)).isNull();
      assertThat(receiver.tryReceive()).isNull();
      assertThatThrownBy(() -> receiver.receive(Duration.ofMillis(100)))
          .isInstanceOf(OperationTimeoutException.class);

      for (int i = 0; i < 50; i++) {
        Numbered.send(other.client().sender(), i);
        try (ReceiveRegion message = receiver.receive(Task.PATIENCE)) {
          assertThat(message.connection()).isSameAs(other.server());
          Numbered.check(message, i);
        }
      }

      for (int i = 0; i < 8; i++) {
        assertThat(messages.get(i).connection()).isSameAs(held.server());
        Numbered.check(messages.get(i), i);
        messages.get(i).close();
      }
      Task<Long> sending = Task.start(() -> Numbered.send(held.client().sender(), 8));
      try (ReceiveRegion message = receiver.receive(Task.PATIENCE)) {
        Numbered.check(message, 8);
      }
      sending.result();
    }
  }
}
