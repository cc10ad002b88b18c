// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Measurements do not allocate, so that the garbage collector does not disturb them. */
class AllocationTest {

  private static final int SIZE = 64;
  private static final int WARMUP_ROUNDS = 30;
  private static final int MESSAGES = 20_000;
  private static final long BYTES_PER_ROUND = 4_096; // the round's announcement, and the reply

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(names = {"ADAPTIVE", "SPIN"})
  void aRoundTripAllocatesNothing(WaitStrategy wait) throws Exception {
    long[] periods = new long[MESSAGES];
    measure(
        wait,
        (client, arena) -> {
          PingPong pingPong = new PingPong(client, arena, SIZE);
          return count -> pingPong.round(periods, count);
        });
  }

  @ParameterizedTest
  @EnumSource(names = {"ADAPTIVE", "SPIN"})
  void aMessageOfAStreamAllocatesNothing(WaitStrategy wait) throws Exception {
    measure(
        wait,
        (client, arena) ->
            new Throughput(client, arena, SIZE, new Throughput.Flow(0, 1, false))::round);
  }

  @ParameterizedTest
  @EnumSource(names = {"ADAPTIVE", "SPIN"})
  void aMessageOfABatchAllocatesNothing(WaitStrategy wait) throws Exception {
    measure(
        wait,
        (client, arena) ->
            new Throughput(client, arena, SIZE, new Throughput.Flow(32, 8, false))::round);
  }

  private interface Loop {
    IntConsumer of(BenchClient client, Arena arena);
  }

  private void measure(WaitStrategy wait, Loop loop) throws Exception {
    ConnectionOptions options = ConnectionOptions.builder().set(StandardOptions.WAIT, wait).build();
    try (Listener listener = Ferrule.listen(URI.create("sm://" + folder.resolve("app")), options)) {
      Future<Connection> accepted = CompletableFuture.supplyAsync(listener::accept);
      try (Connection connection = Ferrule.connect(listener.uri(), options);
          Connection peer = accepted.get();
          Session session = new Session(peer, false, wait, new ServerLimits(1 << 20, true));
          BenchClient client = new BenchClient(connection, wait);
          Arena arena = Arena.ofConfined()) {
        assertAllocatesNothing(session, loop.of(client, arena));
      }
    }
  }

  private static void assertAllocatesNothing(Session session, IntConsumer round) {
    Thread server = Thread.ofPlatform().daemon().start(session::run);
    for (int i = 0; i < WARMUP_ROUNDS; i++) {
      round.accept(MESSAGES);
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long client = Long.MAX_VALUE;
    long ofServer = Long.MAX_VALUE;
    // Code may allocate until it is compiled, which may take long on a busy machine.
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (Math.max(client, ofServer) >= BYTES_PER_ROUND && System.nanoTime() - deadline < 0) {
      long clientBefore = threads.getCurrentThreadAllocatedBytes();
      long serverBefore = threads.getThreadAllocatedBytes(server.threadId());
      round.accept(MESSAGES);
      client = threads.getCurrentThreadAllocatedBytes() - clientBefore;
      ofServer = threads.getThreadAllocatedBytes(server.threadId()) - serverBefore;
    }
    assertThat(client).as("client").isLessThan(BYTES_PER_ROUND);
    assertThat(ofServer).as("server").isLessThan(BYTES_PER_ROUND);
  }
}
