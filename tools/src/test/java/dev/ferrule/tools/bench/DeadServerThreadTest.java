// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.Receiver;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.CommandHandshake;
import dev.ferrule.tools.support.ToolException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.stubbing.Answer;

/** A server whose thread dies exits with the reason, and its clients do not hang. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeadServerThreadTest {

  private static final ConnectionOptions SINGLE =
      ConnectionOptions.builder()
          .set(StandardOptions.WAIT, WaitStrategy.BLOCK)
          .set("singleReceiver", "on")
          .build();

  @TempDir private Path folder;

  /** Returns a listener whose receiver is replaced. */
  private static Listener with(Listener listener, Receiver receiver) {
    Listener changed = mock(Listener.class, delegatesTo(listener));
    doReturn(receiver).when(changed).receiver();
    return changed;
  }

  @Test
  void theServerEndsWithTheThreadThatReceivesFromAllClients() throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    URI address = URI.create("sm://" + folder.resolve("app"));
    try (Listener listener = Ferrule.listen(address, SINGLE)) {
      Receiver dying = mock(Receiver.class);
      Answer<Object> death =
          invocation -> {
            connected.await();
            throw new OperationInterruptedException(address, "injected by the test", null);
          };
      doAnswer(death).when(dying).receive();
      BenchServer server =
          new BenchServer(
              with(listener, dying),
              WaitStrategy.BLOCK,
              Pinning.OFF,
              new ServerLimits(1 << 20, true),
              problem -> {});
      CompletableFuture<Void> serving =
          CompletableFuture.runAsync(
              server::runSingleReceiver, task -> Thread.ofPlatform().daemon().start(task));
      try (Connection connection = CommandHandshake.BENCHMARK.connect(listener.uri(), SINGLE)) {
        new BenchClient(connection, WaitStrategy.BLOCK).start(Round.of(Round.Kind.SINK, 5, 5));
        connected.countDown();

        assertThatThrownBy(() -> connection.receiver().receive().close())
            .isInstanceOf(EndOfStreamException.class);
        assertThatThrownBy(serving::join)
            .isInstanceOf(CompletionException.class)
            .cause()
            .isInstanceOf(ToolException.class)
            .hasMessageContaining("the thread that receives from all clients has failed")
            .hasMessageContaining("injected by the test");
      }
    }
  }

  @Test
  void aClientThatCannotBeServedIsNotLeftWaiting() {
    URI address = URI.create("sm://" + folder.resolve("app"));
    try (Listener listener = Ferrule.listen(address)) {
      BenchServer server =
          new BenchServer(
              listener,
              WaitStrategy.BLOCK,
              PinningTest.failing(),
              new ServerLimits(1 << 20, true),
              problem -> {});
      Thread.ofPlatform().daemon().start(server::run);
      for (int i = 0; i < 2; i++) {
        try (Connection connection =
            CommandHandshake.BENCHMARK.connect(
                listener.uri(), ConnectionOptions.builder().build())) {
          assertThatThrownBy(() -> connection.receiver().receive().close())
              .isInstanceOf(EndOfStreamException.class);
        }
      }
    }
  }
}
