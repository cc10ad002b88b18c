// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The number of messages in flight with the default options. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DefaultsInFlightTest {

  private static final int IN_FLIGHT = 64;

  @ParameterizedTest
  @CsvSource({"sendrecv, 64", "sendrecv, longest", "magicring, 64", "magicring, longest"})
  void byDefault64MessagesAreSentBeforeTheReceiverPolls(String scheme, String length) {
    try (Wires.Pair pair = Wires.pair(scheme + "?")) {
      Sender sender = pair.client().sender();
      int bytes = length.equals("longest") ? sender.maxMessage() : Integer.parseInt(length);
      for (int i = 0; i < IN_FLIGHT; i++) {
        SendRegion region = sender.tryClaim(bytes);
        assertThat(region).as("message %d of %d bytes", i, bytes).isNotNull();
        region.segment().set(ValueLayout.JAVA_INT_UNALIGNED, 0, i);
        region.commit();
      }
      for (int i = 0; i < IN_FLIGHT; i++) {
        try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
          assertThat(message.segment().byteSize()).isEqualTo(bytes);
          assertThat(message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(i);
        }
      }
    }
  }
}
