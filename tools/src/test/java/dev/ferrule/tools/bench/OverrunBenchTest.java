// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ToolException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that takes a given time for each message. The overrun itself is tested on a device. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OverrunBenchTest {

  private static final int COUNT = 300;
  private static final int PAUSE_NANOS = 100_000;

  @TempDir private Path folder;

  private final BlockingQueue<String> problems = new LinkedBlockingQueue<>();
  private Listener listener;
  private Thread serving;

  private ConfiguredAddress serve(boolean single) {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(StandardOptions.WAIT, WaitStrategy.BLOCK)
            .set("singleReceiver", single ? "on" : "off")
            .build();
    listener = Ferrule.listen(URI.create("sm://" + folder), options);
    BenchServer server =
        new BenchServer(
            listener, WaitStrategy.BLOCK, Pinning.OFF, new ServerLimits(4096, true), problems::add);
    serving = Thread.ofPlatform().start(single ? server::runSingleReceiver : server::run);
    return new ConfiguredAddress(listener.uri(), options);
  }

  @AfterEach
  void stop() throws InterruptedException {
    listener.close();
    serving.join();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theReceiverTakesTheGivenTimeForEachMessageAndAllAreSentIfSendersWait(boolean single) {
    ConfiguredAddress endpoint = serve(single);
    try (Connections connections = new Connections(endpoint, 2);
        SenderThreads senderThreads =
            new SenderThreads(connections.clients(), 1, Pinning.OFF, problems::add)) {
      long start = System.nanoTime();
      OverrunBench.Outcome outcome =
          new OverrunBench(senderThreads, 16, 32, PAUSE_NANOS).run(COUNT, 0);
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo((long) COUNT * PAUSE_NANOS);
      assertThat(outcome.sent()).isEqualTo(2 * COUNT);
      assertThat(outcome.overrun()).isFalse();
    }
    assertThat(problems).isEmpty();
  }

  @Test
  void aConnectionThatEndsForAnotherReasonIsAFailure() throws InterruptedException {
    ConfiguredAddress endpoint = serve(false);
    try (Connections connections = new Connections(endpoint, 1);
        SenderThreads senderThreads =
            new SenderThreads(connections.clients(), 1, Pinning.OFF, problems::add)) {
      int tooLong = 2 * ServerLimits.MAX_PAUSE_NANOS;
      assertThatThrownBy(() -> new OverrunBench(senderThreads, 16, 32, tooLong).run(COUNT, 0))
          .isInstanceOfAny(
              ConnectionClosedException.class, EndOfStreamException.class, ToolException.class);
    }
    assertThat(problems.take()).contains("exceed the limit of 1000000 ns");
  }
}
