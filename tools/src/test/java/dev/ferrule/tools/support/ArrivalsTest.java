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

@Timeout(value = 180, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ArrivalsTest {

  @TempDir private Path folder;

  private Listener listen() {
    return Ferrule.listen(URI.create("sm://" + folder));
  }

  private static CompletableFuture<Connection> connect(Listener listener) {
    return inThread(() -> Ferrule.connect(listener.uri()));
  }

  /**
   * Runs work in a new thread: the common pool may have one thread, and these wait for each other.
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
  void theClientsThatAreAcceptedAtTheSameTimeAreLimited() throws Exception {
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
          Stream.generate(() -> connect(listener)).limit(6).toList();
      CompletableFuture<Optional<Connection>> next = inThread(() -> arrivals.next(null));
      while (accepting.get() < 3) {
        Thread.onSpinWait();
      }
      // longer than for the next one to be accepted beside them
      assertThat(next.copy().orTimeout(500, TimeUnit.MILLISECONDS))
          .failsWithin(5, TimeUnit.SECONDS);
      assertThat(accepting).hasValue(3);
      confirmed.countDown();
      assertThat(next.join()).isPresent();
      for (int i = 1; i < clients.size(); i++) {
        assertThat(arrivals.next(null)).isPresent();
      }
      clients.forEach(client -> client.join().close());
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
  void waitingInVainForAClientTimesOut() {
    try (Listener listener = listen();
        Arrivals arrivals = arrivals(listener)) {
      assertThatThrownBy(() -> arrivals.next(Duration.ofMillis(50)))
          .isInstanceOf(OperationTimeoutException.class);
    }
  }
}
