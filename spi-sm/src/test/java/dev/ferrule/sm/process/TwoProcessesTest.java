// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TwoProcessesTest extends ProcessTest {

  @ParameterizedTest
  @EnumSource(WaitStrategy.class)
  void shouldExchangeMessagesOfAnySizeByteByByte(WaitStrategy wait) throws Exception {
    String options = "?wait=" + wait.name().toLowerCase(Locale.ROOT);
    try (OtherProcess other = OtherProcess.start("echo", address() + options)) {
      URI listener = URI.create(other.line() + options);
      try (Connection connection = Ferrule.connect(listener)) {
        Random random = new Random(1);
        for (int i = 0; i < 2_000; i++) {
          int bound = i % 100 == 0 ? connection.sender().maxMessage() : 3_000;
          byte[] message = new byte[random.nextInt(bound + 1)];
          random.nextBytes(message);
          connection.sender().send(MemorySegment.ofArray(message));
          try (ReceiveRegion answer = connection.receiver().receive()) {
            assertThat(answer.segment().mismatch(MemorySegment.ofArray(message))).isEqualTo(-1);
          }
        }
      }
      assertThat(other.line()).isEqualTo("closed");
      assertThat(other.exitCode()).isZero();
    }
    assertThat(files()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(WaitStrategy.class)
  void shouldKeepManyMessagesInFlightInBothDirections(WaitStrategy wait) throws Exception {
    String options =
        "?ring=16KiB&buffer=256KiB&maxMessage=64KiB&wait=" + wait.name().toLowerCase(Locale.ROOT);
    try (OtherProcess other = OtherProcess.start("echo", address() + options);
        Connection connection = Ferrule.connect(URI.create(other.line() + options))) {
      int count = 5_000;
      Thread sender =
          Thread.ofPlatform()
              .start(() -> {
                for (int i = 0; i < count; i++) {
                  byte[] message = new byte[4 + i % 5_000];
                  MemorySegment.ofArray(message).set(ValueLayout.JAVA_INT_UNALIGNED, 0, i);
                  connection.sender().send(MemorySegment.ofArray(message));
                }
              });
      for (int i = 0; i < count; i++) {
        try (ReceiveRegion answer = connection.receiver().receive()) {
          assertThat(answer.length()).isEqualTo(4 + i % 5_000);
          assertThat(answer.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(i);
        }
      }
      sender.join();
    }
  }
}
