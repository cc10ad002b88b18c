// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A peer in C, src/test/c/sm_echo.c, written from docs/protocol-sm.md alone. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForeignPeerTest {

  private static final Path SOURCE = Path.of("src", "test", "c", "sm_echo.c");
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @TempDir private static Path folder;
  private static Path program;

  @TempDir private Path directory;

  @BeforeAll
  static void compile() throws Exception {
    assumeTrue(isThere("gcc"), "there is no gcc to compile " + SOURCE + " with");
    program = folder.resolve("sm_echo");
    Process gcc =
        new ProcessBuilder("gcc", "-O2", "-o", program.toString(), SOURCE.toString())
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).as("the exit code of gcc").isZero();
  }

  private static boolean isThere(String command) {
    for (String each : System.getenv("PATH").split(":")) {
      if (Files.isExecutable(Path.of(each, command))) {
        return true;
      }
    }
    return false;
  }

  private Process start(Listener listener) throws IOException {
    return new ProcessBuilder(program.toString(), listener.uri().getPath()).inheritIO().start();
  }

  /** Small rings of both sides, so that they wrap often and both sides wait for room. */
  @ParameterizedTest
  @CsvSource({"SPIN, false", "BLOCK, false", "BLOCK, true", "ADAPTIVE, false"})
  void exchangesMessagesOfAllKindsBothWays(WaitStrategy wait, boolean virtual) throws Exception {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(StandardOptions.WAIT, wait)
            .set(StandardOptions.MAX_MESSAGE, 16L << 10)
            .set("ring", "4KiB")
            .build();
    try (Listener listener = Ferrule.listen(URI.create("sm://" + directory), options)) {
      Process peer = start(listener);
      try (Connection connection = listener.accept(PATIENCE)) {
        Throwable[] failure = {null};
        Runnable exchange =
            () -> {
              try {
                exchange(connection, 20_000);
              } catch (RuntimeException | AssertionError e) {
                failure[0] = e;
              }
            };
        Thread thread = virtual ? Thread.ofVirtual().start(exchange) : new Thread(exchange);
        if (!virtual) {
          thread.start();
        }
        thread.join();
        assertThat(failure[0]).isNull();
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
      } finally {
        assertThat(peer.waitFor(90, TimeUnit.SECONDS)).isTrue();
        peer.destroyForcibly();
      }
      assertThat(peer.exitValue()).isZero();
    }
  }

  private static void exchange(Connection connection, int count) {
    Random lengths = new Random(1);
    Queue<byte[]> sent = new ArrayDeque<>();
    for (int i = 0; i < count; i++) {
      byte[] message = new byte[length(lengths)];
      lengths.nextBytes(message);
      connection.sender().send(MemorySegment.ofArray(message));
      sent.add(message);
      while (sent.size() > i % 4) {
        receive(connection, sent.remove());
      }
    }
    while (!sent.isEmpty()) {
      receive(connection, sent.remove());
    }
  }

  /** Two senders of this side, of which each gets its own messages back in order. */
  @ParameterizedTest
  @EnumSource
  void exchangesMessagesOverTwoLanesBothWays(WaitStrategy wait) throws Exception {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(StandardOptions.WAIT, wait)
            .set(StandardOptions.MAX_MESSAGE, 16L << 10)
            .set("ring", "4KiB")
            .set("lanes", "1")
            .build();
    // two senders and a receiver that spin are slow on two processors
    int each = wait == WaitStrategy.SPIN ? 500 : 10_000;
    try (Listener listener = Ferrule.listen(URI.create("sm://" + directory), options)) {
      Process peer = start(listener);
      try (Connection connection = listener.accept(PATIENCE)) {
        Sender[] senders = {connection.sender(), connection.newSender()};
        List<CompletableFuture<Void>> sending = new ArrayList<>();
        for (int i = 0; i < senders.length; i++) {
          int me = i;
          sending.add(
              CompletableFuture.runAsync(
                  () -> {
                    for (int number = 0; number < each; number++) {
                      senders[me].send(MemorySegment.ofArray(tagged(me, number)));
                    }
                  },
                  task -> new Thread(task, "sender").start()));
        }
        int[] next = new int[senders.length];
        for (int i = 0; i < each * senders.length; i++) {
          try (ReceiveRegion message = connection.receiver().receive(PATIENCE)) {
            int sender = message.segment().get(ValueLayout.JAVA_BYTE, 0);
            assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(tagged(sender, next[sender]++));
          }
        }
        for (CompletableFuture<Void> one : sending) {
          one.get();
        }
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
      } finally {
        assertThat(peer.waitFor(90, TimeUnit.SECONDS)).isTrue();
        peer.destroyForcibly();
      }
      assertThat(peer.exitValue()).isZero();
    }
  }

  private static byte[] tagged(int sender, int number) {
    Random random = new Random(number);
    byte[] message = new byte[1 + length(random)];
    random.nextBytes(message);
    message[0] = (byte) sender;
    return message.length <= 16 << 10 ? message : Arrays.copyOf(message, 16 << 10);
  }

  private static int length(Random random) {
    return switch (random.nextInt(8)) {
      case 0 -> random.nextInt(16 << 10);
      case 1 -> random.nextInt(1_100);
      default -> random.nextInt(100);
    };
  }

  private static void receive(Connection connection, byte[] expected) {
    try (ReceiveRegion message = connection.receiver().receive(PATIENCE)) {
      assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
    }
  }

  @Test
  void aMessageThatIsHeldForLongDelaysNoOther() throws Exception {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(StandardOptions.MAX_MESSAGE, 16L << 10)
            .set("ring", "4KiB")
            .build();
    try (Listener listener = Ferrule.listen(URI.create("sm://" + directory), options)) {
      Process peer = start(listener);
      try (Connection connection = listener.accept(PATIENCE)) {
        byte[] first = new byte[333];
        new Random(5).nextBytes(first);
        connection.sender().send(MemorySegment.ofArray(first));
        ReceiveRegion held = connection.receiver().receive(PATIENCE);
        exchange(connection, 5_000);
        assertThat(held.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(first);
        held.close();
        exchange(connection, 100);
      } finally {
        assertThat(peer.waitFor(90, TimeUnit.SECONDS)).isTrue();
        peer.destroyForcibly();
      }
      assertThat(peer.exitValue()).isZero();
    }
  }
}
