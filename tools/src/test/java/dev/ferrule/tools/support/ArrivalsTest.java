// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.tools.bench.SilentClients;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ArrivalsTest {

  @TempDir private Path folder;

  private Listener listen() {
    return Ferrule.listen(URI.create("sm://" + folder));
  }

  private static CompletableFuture<Connection> connect(Listener listener) {
    return inThread(() -> Ferrule.connect(listener.uri()));
  }

  private static CompletableFuture<Connection> connectPatiently(Listener listener) {
    URI uri = URI.create(listener.uri() + "?connectTimeout=2m");
    return inThread(() -> Ferrule.connect(uri));
  }

  /**
   * Runs work in a new thread, since the common pool may have only one thread, and several tasks
   * wait for each other.
   */
  private static <T> CompletableFuture<T> inThread(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, task -> new Thread(task).start());
  }

  private static Arrivals arrivals(Listener listener) {
    return new Arrivals(listener, request -> Optional.of(request.accept()));
  }

  @Test
  void clientsThatDoNotConfirmDelayNoOther() throws Exception {
    SilentClients silent = new SilentClients(2);
    try (Listener listener = listen();
        Arrivals arrivals = arrivals(silent.among(listener))) {
      CompletableFuture<Optional<Connection>> next = inThread(() -> arrivals.next(null));
      CompletableFuture<Connection> first = connect(listener);
      CompletableFuture<Connection> second = connect(listener);
      silent.awaitAll();
      CompletableFuture<Connection> third = connect(listener);
      assertThat(next.join()).isPresent();
      third.join().close();
      silent.release();
      assertThat(arrivals.next(null)).as("a late client").isPresent();
      first.join().close();
      second.join().close();
    }
  }

  @Test
  void theNumberOfClientsAcceptedConcurrentlyIsLimited() throws Exception {
    AtomicInteger accepting = new AtomicInteger();
    CountDownLatch confirmed = new CountDownLatch(1);
    try (Listener listener = listen();
        Arrivals arrivals =
            new Arrivals(
                listener,
                request -> {
                  accepting.incrementAndGet();
                  awaitUninterruptibly(confirmed);
                  return Optional.of(request.accept());
                },
                3)) {
      List<CompletableFuture<Connection>> clients =
          Stream.generate(() -> connectPatiently(listener)).limit(6).toList();
      do { // each call accepts one more client, and none of them confirms
        assertThatThrownBy(() -> arrivals.next(Duration.ofMillis(200)))
            .isInstanceOf(OperationTimeoutException.class);
      } while (accepting.get() < 3);
      assertThatThrownBy(() -> arrivals.next(Duration.ofMillis(200)))
          .isInstanceOf(OperationTimeoutException.class)
          .hasMessageContaining("accept timed out: none of 3 clients has confirmed its connection");
      assertThat(accepting).hasValue(3);
      confirmed.countDown();
      for (int i = 0; i < clients.size(); i++) {
        assertThat(arrivals.next(null)).isPresent();
      }
      clients.forEach(client -> client.join().close());
    }
  }

  @Test
  void anErrorWhileAcceptingIsThrown() {
    Error fault = new NoClassDefFoundError("dev/example/Missing");
    try (Listener listener = listen();
        Arrivals arrivals =
            new Arrivals(
                listener,
                request -> {
                  request.reject(new byte[0]);
                  throw fault;
                })) {
      CompletableFuture<Connection> client = connect(listener);
      assertThatThrownBy(() -> arrivals.next(null)).isSameAs(fault);
      assertThat(client).failsWithin(1, TimeUnit.MINUTES);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void waitingWithoutAClientTimesOut() {
    try (Listener listener = listen();
        Arrivals arrivals = arrivals(listener)) {
      assertThatThrownBy(() -> arrivals.next(Duration.ofMillis(50)))
          .isInstanceOf(OperationTimeoutException.class);
    }
  }
}
