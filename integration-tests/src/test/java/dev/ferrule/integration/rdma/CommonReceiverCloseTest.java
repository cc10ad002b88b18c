// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.Listener;
import dev.ferrule.Receiver;
import dev.ferrule.contract.ClosingMoment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A common receiver continues when one of its connections is closed. */
@RdmaTest
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CommonReceiverCloseTest {

  private static final int ROUNDS = Integer.getInteger("ferrule.soak.closes", 20);

  @ParameterizedTest
  @ValueSource(strings = {"sendrecv", "sendrecv srq", "magicring"})
  void aCommonReceiverTakesTheFirstMessageOfAConnectionThatAnotherThreadCloses(String mode) {
    String scheme = mode.split(" ")[0];
    String shared = mode.endsWith("srq") ? "&srq=on" : "";
    AtomicLong received = new AtomicLong();
    ClosingMoment moment = new ClosingMoment();
    Task<Void> receiving;
    try (Listener listener = Wires.listen(scheme + "?singleReceiver=on" + shared)) {
      Receiver common = listener.receiver();
      receiving =
          Task.start(() -> {
            assertThatThrownBy(
                    () -> {
                      while (true) {
                        common.receive().close();
                        received.incrementAndGet();
                      }
                    })
                .isInstanceOf(ConnectionClosedException.class);
            assertThat(Thread.interrupted()).isFalse();
            return null;
          });
      for (int round = 0; round < ROUNDS; round++) {
        long before = received.get();
        Wires.Pair pair = Wires.pairOnceThereAreBuffers(listener, "");
        Numbered.send(pair.client().sender(), round);
        moment.await(() -> received.get() > before);
        pair.server().close();
        pair.client().close();
      }
    }
    receiving.result();
    assertThat(received).hasPositiveValue();
  }
}
