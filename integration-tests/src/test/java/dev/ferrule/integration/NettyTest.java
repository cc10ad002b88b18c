// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.MessageHandler;
import dev.ferrule.Readiness;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.StandardOptions;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.nio.NioIoOps;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.channels.SelectableChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One event loop of Netty's NIO transport serves several connections by their readiness. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NettyTest {

  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int CONNECTIONS = 4;
  private static final int ROUNDS = 50;

  /** More messages than a handle receives in one poll. */
  private static final int BURST = 5;

  @TempDir private Path folder;

  @Test
  void anEventLoopAnswersTheMessagesOfEachConnectionAndDetectsItsEnd() throws Exception {
    List<Connection> clients = new ArrayList<>();
    List<EchoHandle> handles = new ArrayList<>();
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(StandardOptions.READINESS, Readiness.Interest.RECEIVE)
            .build();
    try (Listener listener = Ferrule.listen(URI.create("sm://" + folder), options);
        IoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory())) {
      for (int i = 0; i < CONNECTIONS; i++) {
        CompletableFuture<Connection> client =
            CompletableFuture.supplyAsync(
                () -> connect(listener), task -> Thread.ofPlatform().start(task));
        EchoHandle handle = new EchoHandle(listener.accept(PATIENCE));
        clients.add(client.get());
        handles.add(handle);
        register(handle, group.next());
      }

      while (!clients.isEmpty()) {
        for (int round = 0; round < ROUNDS; round++) {
          assertEachIsAnswered(clients);
        }

        clients.removeFirst().close();

        assertThat(handles.removeFirst().end).succeedsWithin(PATIENCE);
      }
    } finally {
      clients.forEach(Connection::close);
      handles.forEach(EchoHandle::close);
    }
  }

  private static Connection connect(Listener listener) {
    return Ferrule.connect(
        listener.uri(),
        ConnectionOptions.builder().set(StandardOptions.CONNECT_TIMEOUT, PATIENCE).build());
  }

  private static void register(EchoHandle handle, IoEventLoop loop) throws InterruptedException {
    IoRegistration registration = loop.register(handle).sync().getNow();
    // In the event loop's thread: a Selector that is waiting does not observe the change.
    loop.execute(() -> registration.submit(NioIoOps.READ));
  }

  /** Sends a burst over each connection, then waits for the answers. */
  private static void assertEachIsAnswered(List<Connection> clients) {
    for (Connection client : clients) {
      for (int i = 0; i < BURST; i++) {
        client.sender().send(MemorySegment.ofArray(message(client, i)));
      }
    }
    for (Connection client : clients) {
      for (int i = 0; i < BURST; i++) {
        try (ReceiveRegion answer = client.receiver().receive(PATIENCE)) {
          assertThat(answer.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(message(client, i));
        }
      }
    }
  }

  private static byte[] message(Connection client, int number) {
    return (System.identityHashCode(client) + " " + number).getBytes(UTF_8);
  }

  /** Answers the messages of a connection in an event loop, and closes it after the peer has. */
  private static final class EchoHandle implements NioIoHandle {

    final CompletableFuture<Void> end = new CompletableFuture<>();

    private final Connection connection;
    private final SelectableChannel channel;
    private final MessageHandler answer;

    EchoHandle(Connection connection) {
      this.connection = connection;
      channel = connection.readiness().channel();
      answer = (buffer, offset, length) -> connection.sender().send(buffer.asSlice(offset, length));
    }

    @Override
    public SelectableChannel selectableChannel() {
      return channel;
    }

    @Override
    public void handle(IoRegistration registration, IoEvent event) {
      try {
        int count;
        do {
          count = connection.receiver().poll(answer, BURST - 1);
        } while (count > 0);
      } catch (EndOfStreamException e) {
        registration.cancel();
        close();
        end.complete(null);
      } catch (RuntimeException e) {
        registration.cancel();
        end.completeExceptionally(e);
      }
    }

    /** Closes the connection, which closes the channel; the event loop calls this when it ends. */
    @Override
    public void close() {
      connection.close();
    }
  }
}
