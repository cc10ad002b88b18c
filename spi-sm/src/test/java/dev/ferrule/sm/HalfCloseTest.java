// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.sm.ring.RingLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a peer's messages in shared memory: of a hostile peer, and of one peer of many. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HalfCloseTest {

  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int INLINE = 1; // the header of an empty message

  @TempDir private Path directory;

  private interface Exchange {
    void run(Connection client, Connection server);
  }

  private void connected(Exchange exchange) {
    URI address = URI.create("sm://" + directory.resolve("app") + "?ring=4KiB");
    try (Listener listener = Ferrule.listen(address)) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
      try (Connection server = listener.accept(PATIENCE);
          Connection client = connecting.join()) {
        exchange.run(client, server);
      }
    }
  }

  private static void mark(Connection receiver, int value) {
    ConnectionMemory.ofReceiver(receiver)
        .ring()
        .set(ValueLayout.JAVA_INT, RingLayout.SENDER_ENDED, value);
  }

  private static void assertViolation(Connection server, String part) {
    Receiver receiver = server.receiver();
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(receiver::receive)
          .isInstanceOf(ProtocolException.class)
          .hasMessageContaining(part);
      assertThatThrownBy(receiver::tryReceive).isInstanceOf(ProtocolException.class);
      assertThatThrownBy(() -> receiver.poll((buffer, offset, length) -> {}, 1))
          .isInstanceOf(ProtocolException.class);
    }
    assertThat(server.state()).isEqualTo(ConnectionState.FAILED);
    assertThat(server.failure()).isInstanceOf(ProtocolException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, -1, Integer.MIN_VALUE, 1 << 8})
  void anInvalidMarkIsAViolation(int value) {
    connected((client, server) -> {
      mark(server, value);
      assertViolation(
          server,
          "the sender's mark of its last message is 0x"
              + Integer.toHexString(value)
              + ", neither 0 nor 1");
    });
  }

  @Test
  void aMessageAfterTheEndIsAViolation() {
    connected((client, server) -> {
      client.sender().close();
      assertThatThrownBy(server.receiver()::receive).isInstanceOf(EndOfStreamException.class);
      ConnectionMemory.ofReceiver(server)
          .ring()
          .set(ValueLayout.JAVA_LONG, new RingLayout(12, 0, 0).recordsOffset(), INLINE);
      assertViolation(server, "a message after its last one");
    });
  }

  @Test
  void anEndThatIsWithdrawnIsAViolation() {
    connected((client, server) -> {
      client.sender().close();
      assertThatThrownBy(server.receiver()::receive).isInstanceOf(EndOfStreamException.class);
      mark(server, 0);
      assertViolation(server, "has withdrawn the mark of its last message");
    });
  }

  @Test
  void theEndOfOneClientsMessagesDoesNotEndTheCommonReceiver() {
    URI address = URI.create("sm://" + directory.resolve("app"));
    ConnectionOptions options =
        ConnectionOptions.builder().set("singleReceiver", "on").set("wait", "block").build();
    Listener listener = Ferrule.listen(address, options);
    Receiver common = listener.receiver();
    CompletableFuture<Connection> one = connect(listener);
    Connection serverOfOne = listener.accept(PATIENCE);
    CompletableFuture<Connection> other = connect(listener);
    Connection serverOfOther = listener.accept(PATIENCE);
    one.join().sender().send(MemorySegment.ofArray(new byte[1]));
    one.join().sender().close();
    common.receive(PATIENCE).close();

    assertUsesNoProcessorTime(common);
    assertThat(common.tryReceive()).isNull();
    assertThat(common.poll((buffer, offset, length) -> {}, 1)).isZero();
    other.join().sender().send(MemorySegment.ofArray(new byte[2]));
    try (ReceiveRegion message = common.receive(PATIENCE)) {
      assertThat(message.connection()).isSameAs(serverOfOther);
    }
    assertThat(serverOfOne.state()).isEqualTo(ConnectionState.OPEN);

    listener.close();
    assertThatThrownBy(() -> serverOfOne.receiver().receive(PATIENCE))
        .isInstanceOf(EndOfStreamException.class);
    List.of(one.join(), other.join(), serverOfOne, serverOfOther).forEach(Connection::close);
  }

  private static CompletableFuture<Connection> connect(Listener listener) {
    return CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
  }

  private static void assertUsesNoProcessorTime(Receiver receiver) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadCpuTime();
    assertThatThrownBy(() -> receiver.receive(Duration.ofSeconds(1)))
        .isInstanceOf(OperationTimeoutException.class);
    assertThat(threads.getCurrentThreadCpuTime() - before).isLessThan(300_000_000);
  }
}
