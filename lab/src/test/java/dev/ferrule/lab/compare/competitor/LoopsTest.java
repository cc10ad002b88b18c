// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.lab.compare.transport.Listening;
import dev.ferrule.lab.compare.transport.MessageSender;
import dev.ferrule.lab.compare.transport.SenderSequences;
import dev.ferrule.lab.compare.transport.Transport;
import dev.ferrule.lab.compare.transport.TransportUnderTest;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Measured messages arrive, and a message that does not makes the measurement fail. */
@Tag("long")
class LoopsTest {

  private static final int COUNT = 1_000;
  private static final int SIZE = 64;

  @TempDir Path directory;

  /** The number of messages that the client has sent or lost. */
  private final AtomicInteger sent = new AtomicInteger();

  private final AtomicLong nanos = new AtomicLong();

  /** A clock that advances only when all messages are sent, so that none is assumed lost before. */
  private long nanosWithoutMessages() {
    return sent.get() < COUNT ? 0 : nanos.addAndGet(Loops.LOST_NANOS / 4);
  }

  static List<Arguments> measuresOfAll() {
    return TransportsUnderTest.all().stream()
        .map(JvmCompetitor::new)
        .flatMap(competitor ->
            Arrays.stream(Measure.values())
                .filter(competitor::takesPart)
                .map(measure -> Arguments.of(competitor.name(), measure)))
        .toList();
  }

  static List<Arguments> ratesOfAll() {
    return measuresOfAll().stream()
        .filter(arguments -> !((Measure) arguments.get()[1]).isTime())
        .toList();
  }

  @ParameterizedTest
  @MethodSource("measuresOfAll")
  void allMessagesOfAMeasurementArrive(String name, Measure measure) {
    run(name, measure, value -> false);
  }

  @ParameterizedTest
  @MethodSource("ratesOfAll")
  void aLostMessageMakesTheMeasurementFail(String name, Measure measure) {
    long lost =
        measure.senders() > 1 ? SenderSequences.value(1, COUNT / measure.senders() / 2) : COUNT / 2;
    assertThatThrownBy(() -> run(name, measure, value -> value == lost))
        .hasMessageContaining("a message was lost, duplicated or reordered");
  }

  static List<Arguments> pollingRates() {
    return ratesOfAll().stream()
        .filter(arguments -> !List.of("unix", "tcp").contains(arguments.get()[0])) // these block
        .toList();
  }

  @ParameterizedTest
  @MethodSource("pollingRates")
  void aLostLastMessageMakesTheMeasurementFail(String name, Measure measure) {
    int senders = measure.senders();
    long lost = senders > 1 ? SenderSequences.value(senders - 1, COUNT / senders - 1) : COUNT;
    assertThatThrownBy(() -> run(name, measure, value -> value == lost))
        .hasMessageContaining("messages were lost: " + (COUNT - 1) + " of " + COUNT);
  }

  /** The others would otherwise access memory that the caller unmaps. */
  @Test
  void ifASenderFailsTheOthersHaveEndedWhenTheMeasurementDoes() throws InterruptedException {
    FailingTransport transport = new FailingTransport();
    assertThatThrownBy(() -> Loops.sendFromSeveral(transport, 2, COUNT, SIZE, index -> {}))
        .hasMessageContaining("the peer has failed");
    transport.close();
    assertThat(transport.withoutRoom.join().join(Duration.ofSeconds(60))).isTrue();
    assertThat(transport.usedAfterClose).isFalse();
  }

  /** A transport whose first sender fails once the second one has found no room. */
  private static final class FailingTransport implements Transport {
    private final CompletableFuture<Thread> withoutRoom = new CompletableFuture<>();
    private final AtomicBoolean usedAfterClose = new AtomicBoolean();
    private volatile boolean closed;
    private boolean isFirst = true;

    @Override
    public MessageSender newSender() {
      boolean fails = isFirst;
      isFirst = false;
      return (value, length) -> {
        if (fails) {
          withoutRoom.join();
          throw new IllegalStateException("the peer has failed");
        }
        withoutRoom.complete(Thread.currentThread());
        usedAfterClose.compareAndSet(false, closed);
        return false;
      };
    }

    @Override
    public boolean trySend(long value, int length) {
      return true;
    }

    @Override
    public int poll(int limit) {
      return 1;
    }

    @Override
    public long lastValue() {
      return 0;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /**
   * Measures in this process. If the server fails, the client is stopped, and the failure thrown.
   */
  private void run(String name, Measure measure, LongPredicate lost) {
    TransportUnderTest transport = TransportsUnderTest.named(name);
    AtomicBoolean ended = new AtomicBoolean();
    CompletableFuture<Void> measuring = new CompletableFuture<>();
    CompletableFuture<Void> serving = new CompletableFuture<>();
    try (Listening listening = transport.listen(measure.mode(), directory, null)) {
      CompletableFuture<Transport> accepting = CompletableFuture.supplyAsync(listening::accept);
      Transport connected = transport.connect(measure.mode(), listening.address(), null);
      Transport server = accepting.join();
      try (LosingTransport client = new LosingTransport(connected, lost, ended, sent)) {
        start(measuring, () -> measure(client, measure));
        start(serving, () -> serve(server, measure, this::nanosWithoutMessages));
        serving.exceptionally(failure -> null).join();
        if (serving.isCompletedExceptionally()) {
          ended.set(true);
        } else {
          measuring.join();
        }
        server.close(); // also ends a blocked call of the client
        measuring.exceptionally(failure -> null).join();
      }
    }
    serving.join();
    measuring.join();
  }

  private static void start(CompletableFuture<Void> end, Runnable work) {
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          try {
            work.run();
            end.complete(null);
          } catch (RuntimeException e) {
            end.completeExceptionally(e);
          }
        });
  }

  private static void measure(Transport client, Measure measure) {
    long[] nanos = new long[COUNT / 10];
    if (measure == Measure.LATENCY) {
      Loops.ping(client, 1, nanos, nanos.length, SIZE);
    } else if (measure == Measure.WAKE_UP) {
      Loops.wakeUp(client, 1, nanos, SIZE);
      assertThat(Arrays.stream(nanos)).allMatch(value -> value > 0);
    } else if (measure.senders() > 1) {
      int each = COUNT / measure.senders();
      Loops.sendFromSeveral(client, measure.senders(), each, SIZE, index -> {});
    } else if (measure.batch() > 1) {
      Loops.sendBatches(client, 1, COUNT, measure.batch(), SIZE);
    } else {
      Loops.send(client, 1, COUNT, SIZE);
    }
  }

  private static void serve(Transport server, Measure measure, LongSupplier clock) {
    if (measure == Measure.LATENCY) {
      Loops.echo(server, COUNT / 10 + 1L, SIZE);
    } else if (measure == Measure.WAKE_UP) {
      Loops.blockingEcho(server, COUNT / 10, SIZE);
    } else if (measure.senders() > 1) {
      Loops.sinkOfSeveral(server, COUNT, clock);
    } else {
      Loops.sink(server, COUNT, clock);
    }
  }

  /** A transport that loses messages. */
  private record LosingTransport(
      Transport transport, LongPredicate lost, AtomicBoolean ended, AtomicInteger sent)
      implements Transport {

    private int counted(int messages) {
      sent.addAndGet(messages);
      return messages;
    }

    private boolean counted(boolean done) {
      return counted(done ? 1 : 0) > 0;
    }

    @Override
    public boolean trySend(long value, int length) {
      checkEnd();
      return counted(lost.test(value) || transport.trySend(value, length));
    }

    private void checkEnd() {
      if (ended.get()) {
        throw new IllegalStateException("the peer has failed");
      }
    }

    @Override
    public int trySendBatch(long first, int count, int length) {
      checkEnd();
      for (int i = 0; i < count; i++) {
        if (lost.test(first + i)) {
          return counted(i == 0 ? 1 : transport.trySendBatch(first, i, length));
        }
      }
      return counted(transport.trySendBatch(first, count, length));
    }

    @Override
    public MessageSender newSender() {
      MessageSender sender = transport.newSender();
      return (value, length) -> {
        checkEnd();
        return counted(lost.test(value) || sender.trySend(value, length));
      };
    }

    @Override
    public int poll(int limit) {
      checkEnd();
      return transport.poll(limit);
    }

    @Override
    public long lastValue() {
      return transport.lastValue();
    }

    @Override
    public void close() {
      transport.close();
    }
  }
}
