// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.contract.ClosingMoment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Connections that are closed while threads are sending and receiving. The data plane does not
 * check each access, so no memory may be unmapped during one.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CloseUnderFireTest {

  /** Number of rounds; more of them for a soak. */
  private static final int ROUNDS = Integer.getInteger("ferrule.soak.closes", 20);

  private static final int MANY = 300;

  @TempDir private Path directory;

  private URI address(String query) {
    return URI.create("sm://" + directory + "/app" + query);
  }

  /** Runs until the connection has ended, and records every other failure. */
  private static Thread start(Runnable step, List<Throwable> wrong, AtomicInteger interrupts) {
    return Thread.ofPlatform()
        .start(() -> {
          try {
            while (true) {
              step.run();
            }
          } catch (ConnectionClosedException | EndOfStreamException e) {
            // by the other side or this
          } catch (Throwable e) {
            synchronized (wrong) {
              wrong.add(e);
            }
          }
          if (Thread.interrupted()) {
            interrupts.incrementAndGet();
          }
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "?wait=spin",
        "?wait=block&ring=4KiB",
        "?wait=spin&lanes=1",
        "?maxMessage=16KiB&ring=4KiB"
      })
  void aConnectionIsClosedInTheMiddleOfSendsAndPolls(String query) throws Exception {
    List<Throwable> wrong = new ArrayList<>();
    AtomicInteger interrupts = new AtomicInteger();
    AtomicLong received = new AtomicLong();
    try (Listener listener = Ferrule.listen(address(query));
        Arena arena = Arena.ofShared()) {
      MemorySegment message = arena.allocate(16 << 10).fill((byte) 7);
      for (int round = 0; round < ROUNDS; round++) {
        CompletableFuture<Connection> connecting =
            CompletableFuture.supplyAsync(
                () -> Ferrule.connect(URI.create(listener.uri() + query)));
        Connection server = listener.accept();
        Connection client = connecting.join();
        Sender sender = query.contains("lanes") ? client.newSender() : client.sender();
        int length = 1 << round % 14;
        long before = received.get();
        List<Thread> threads =
            List.of(
                start(() -> sender.send(message, 0, length), wrong, interrupts),
                start(
                    () ->
                        received.addAndGet(
                            server
                                .receiver()
                                .poll(
                                    (memory, offset, size) -> {
                                      assertThat(size).isEqualTo(length);
                                      if (memory.get(ValueLayout.JAVA_BYTE, offset) != 7) {
                                        throw new AssertionError("not what was sent");
                                      }
                                    },
                                    32)),
                    wrong,
                    interrupts));
        while (received.get() == before && wrong.isEmpty()) {
          Thread.onSpinWait();
        }
        (round % 2 == 0 ? client : server).close();
        (round % 2 == 0 ? server : client).close();
        for (Thread thread : threads) {
          thread.join();
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(interrupts).as("unrequested interrupts").hasValue(0);
  }

  /** The handler may use the message until it returns, and is not interrupted. */
  @Test
  void aMessageStaysWithTheHandlerThatReadsItWhileAnotherThreadCloses() throws Exception {
    try (SmProviderTest.Pair pair = SmProviderTest.Pair.open(address(""))) {
      pair.client().sender().send(MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}));
      CountDownLatch reading = new CountDownLatch(1);
      CountDownLatch closed = new CountDownLatch(1);
      AtomicReference<MemorySegment> seen = new AtomicReference<>();
      CompletableFuture<byte[]> read =
          CompletableFuture.supplyAsync(
              () -> {
                AtomicReference<byte[]> bytes = new AtomicReference<>(new byte[0]);
                pair.server()
                    .receiver()
                    .poll(
                        (memory, offset, length) -> {
                          reading.countDown();
                          awaitUninterruptibly(closed);
                          seen.set(memory);
                          bytes.set(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
                        },
                        1);
                assertThat(Thread.interrupted()).isFalse();
                return bytes.get();
              },
              task -> Thread.ofPlatform().daemon().start(task));
      reading.await();
      pair.server().close();
      closed.countDown();
      assertThat(read.get()).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
      assertThat(isZero(seen.get())).as("retired when the handler has returned").isTrue();
    }
  }

  @Test
  void regionsOfTheProgramThrowAfterTheCloseAndSegmentsKeptFromThemReadZeros() {
    SmProviderTest.Pair pair = SmProviderTest.Pair.open(address(""));
    pair.client().sender().send(MemorySegment.ofArray(new byte[8]));
    pair.client().sender().send(MemorySegment.ofArray(new byte[100_000]));
    ReceiveRegion inline = pair.server().receiver().receive();
    ReceiveRegion inLines = pair.server().receiver().receive();
    SendRegion claimed = pair.server().sender().claim(8);
    List<MemorySegment> kept = List.of(inline.segment(), inLines.segment(), claimed.segment());
    pair.close();
    assertThat(kept).allSatisfy(memory -> assertThat(isZero(memory)).isTrue());
    List<ThrowingCallable> accesses =
        List.of(
            inline::segment,
            inline::buffer,
            inLines::segment,
            inLines::buffer,
            claimed::segment,
            claimed::buffer);
    assertThat(accesses)
        .allSatisfy(
            access -> assertThatThrownBy(access).isInstanceOf(ConnectionClosedException.class));
  }

  private static boolean isZero(MemorySegment memory) {
    return memory.mismatch(MemorySegment.ofArray(new byte[(int) memory.byteSize()])) == -1;
  }

  /** The receiving thread of all connections is processing others when one is closed. */
  @ParameterizedTest
  @ValueSource(strings = {"spin", "block"})
  void aListenersReceiverIsNotInterruptedByAConnectionThatIsClosed(String wait) throws Exception {
    ConnectionOptions options =
        ConnectionOptions.builder().set("singleReceiver", "on").set("wait", wait).build();
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger interrupts = new AtomicInteger();
    List<Throwable> wrong = new ArrayList<>();
    try (Listener listener = Ferrule.listen(address(""), options)) {
      Receiver common = listener.receiver();
      AtomicLong received = new AtomicLong();
      Thread receiving =
          start(
              () -> {
                if (over.get()) {
                  throw new ConnectionClosedException(address(""), false, "the test is over", null);
                }
                try (ReceiveRegion message = common.receive()) {
                  received.addAndGet(message.length() / 8);
                }
              },
              wrong,
              interrupts);
      for (int round = 0; round < ROUNDS; round++) {
        CompletableFuture<Connection> connecting =
            CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
        Connection server = listener.accept();
        Connection client = connecting.join();
        List<Throwable> ignored = new ArrayList<>();
        Thread sending =
            start(
                () -> client.sender().send(MemorySegment.ofArray(new byte[8])),
                ignored,
                interrupts);
        long before = received.get();
        while (received.get() == before && wrong.isEmpty()) {
          Thread.onSpinWait();
        }
        server.close();
        sending.join();
        client.close();
      }
      over.set(true);
      CompletableFuture<Connection> last =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
      listener.accept().onClose(Connection::close);
      last.join().sender().send(MemorySegment.ofArray(new byte[8])); // wakes it
      receiving.join();
      last.join().close();
    }
    assertThat(wrong).isEmpty();
    assertThat(interrupts).hasValue(0);
  }

  @Test
  void aListenersReceiverTakesTheFirstMessageOfAConnectionThatIsClosed() throws Exception {
    ConnectionOptions options = ConnectionOptions.builder().set("singleReceiver", "on").build();
    List<Throwable> wrong = new ArrayList<>();
    AtomicInteger interrupts = new AtomicInteger();
    AtomicLong received = new AtomicLong();
    ClosingMoment moment = new ClosingMoment();
    Thread receiving;
    try (Listener listener = Ferrule.listen(address(""), options)) {
      Receiver common = listener.receiver();
      receiving =
          start(
              () -> {
                common.receive().close();
                received.incrementAndGet();
              },
              wrong,
              interrupts);
      for (int round = 0; round < 5 * ROUNDS && wrong.isEmpty(); round++) {
        CompletableFuture<Connection> connecting =
            CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
        Connection server = listener.accept();
        Connection client = connecting.join();
        long before = received.get();
        client.sender().send(MemorySegment.ofArray(new byte[8]));
        moment.await(() -> received.get() > before);
        server.close();
        client.close();
      }
    }
    receiving.join();
    assertThat(wrong).isEmpty();
    assertThat(interrupts).hasValue(0);
    assertThat(received).as("messages received before a close").hasPositiveValue();
  }

  @Test
  void manyConnectionsMayBeClosedAtTheSameTime() throws Exception {
    try (Listener listener = Ferrule.listen(address("?maxMessage=100&ring=4KiB"))) {
      List<Connection> connections = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        CompletableFuture<Connection> connecting =
            CompletableFuture.supplyAsync(
                () -> Ferrule.connect(URI.create(listener.uri() + "?maxMessage=100&ring=4KiB")));
        connections.add(listener.accept());
        connections.add(connecting.join());
      }
      CountDownLatch go = new CountDownLatch(1);
      List<Thread> threads = new ArrayList<>();
      for (Connection connection : connections) {
        threads.add(
            Thread.ofPlatform()
                .start(() -> {
                  awaitUninterruptibly(go);
                  connection.close();
                }));
      }
      go.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(connections)
          .extracting(Connection::state)
          .containsOnly(ConnectionState.CLOSED, ConnectionState.CLOSED_BY_PEER);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
