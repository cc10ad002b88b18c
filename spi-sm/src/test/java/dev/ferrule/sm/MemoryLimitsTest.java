// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.sm.ring.RingTestHook;
import dev.ferrule.sm.ring.RingTestPoint;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.AbstractThrowableAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connection that takes too much memory fails on both sides, and the listener serves others. */
class MemoryLimitsTest {

  private final AtomicReference<@Nullable Error> failure = new AtomicReference<>();
  private final SmUnderTest addresses = new SmUnderTest();

  @BeforeEach
  void failOnce() {
    RingTestHook.onReached(step -> {
      if (step == RingTestPoint.OPENING_PRODUCER
          && !Thread.currentThread().getName().equals("client")) {
        Error error = next();
        if (error != null) {
          throw error;
        }
      }
    });
  }

  private @Nullable Error next() {
    return failure.getAndSet(null);
  }

  @AfterEach
  void removeDirectory() {
    RingTestHook.ignore();
    addresses.close();
  }

  private static ConnectionOptions options(String option) {
    ConnectionOptions.Builder options = ConnectionOptions.builder();
    if (!option.isEmpty()) {
      options.set(option.split("=")[0], option.split("=")[1]);
    }
    return options.build();
  }

  private Listener listen(String option) {
    return Ferrule.listen(addresses.listenAddress(), options(option));
  }

  private CompletableFuture<Connection> connect(Listener listener, String option) {
    return CompletableFuture.supplyAsync(
        () -> Ferrule.connect(listener.uri(), options(option)),
        task -> Thread.ofPlatform().daemon().name("client").start(task));
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertRefused(
      CompletableFuture<Connection> connecting) {
    return assertThatThrownBy(connecting::join).isInstanceOf(CompletionException.class).cause();
  }

  private void assertServes(Listener listener) {
    CompletableFuture<Connection> connecting = connect(listener, "");
    try (Connection server = listener.accept();
        Connection client = connecting.join()) {
      client.sender().send(MemorySegment.ofArray(new byte[3]));
      try (ReceiveRegion message = server.receiver().receive()) {
        assertThat(message.length()).isEqualTo(3);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"allocatable=1GiB", "buffer=200MiB", "rmaBuffer=200MiB"})
  void aClientWithMoreThanMaxPeerMemoryIsRefused(String large) {
    try (Listener listener = listen("maxPeerMemory=128MiB")) {
      CompletableFuture<Connection> connecting = connect(listener, large);
      assertThatThrownBy(listener.nextRequest()::accept)
          .isInstanceOf(ProtocolException.class)
          .hasMessageContaining("exceeds the maximum of 134217728")
          .hasMessageContaining("raise the options maxPeerMemory and maxMapped");
      assertRefused(connecting)
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("lower the client's options allocatable, buffer or rmaBuffer")
          .hasMessageContaining("raise the listener's maxPeerMemory and maxMapped");
      assertServes(listener);
    }
  }

  @Test
  void aClientThatIsTooLargeDoesNotEndTheCallThatAcceptsTheOthers() {
    try (Listener listener = listen("maxPeerMemory=128MiB")) {
      CompletableFuture<Connection> accepting = CompletableFuture.supplyAsync(listener::accept);
      assertRefused(connect(listener, "allocatable=1GiB"))
          .isInstanceOf(ResourceExhaustedException.class);
      connect(listener, "").join().close();
      accepting.join().close();
    }
  }

  @Test
  void refusedClientsDoNotDelayAnAcceptThatMustNotWait() {
    try (Listener listener = listen("maxPeerMemory=128MiB")) {
      List<CompletableFuture<Connection>> connecting = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        connecting.add(connect(listener, "allocatable=1GiB"));
      }
      for (CompletableFuture<Connection> each : connecting) {
        while (!each.isDone()) {
          assertThatThrownBy(() -> listener.accept(Duration.ZERO))
              .isInstanceOf(OperationTimeoutException.class);
        }
        assertRefused(each).isInstanceOf(ResourceExhaustedException.class);
      }
    }
  }

  @Test
  void aListenerWithMoreThanMaxPeerMemoryIsNotUsed() {
    try (Listener listener = listen("allocatable=1GiB")) {
      CompletableFuture<Connection> connecting = connect(listener, "maxPeerMemory=128MiB");
      CompletableFuture<Connection> accepting = CompletableFuture.supplyAsync(listener::accept);
      assertRefused(connecting)
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("raise the options maxPeerMemory");
      connect(listener, "").join().close();
      accepting.join().close();
      assertServes(listener);
    }
  }

  /** The largest that the options permit. */
  @Test
  void aTebibyteOfAllocatableMemoryIsPossible() {
    try (Listener listener = listen("maxPeerMemory=2TiB")) {
      CompletableFuture<Connection> connecting = connect(listener, "allocatable=1TiB");
      try (Connection server = listener.accept();
          Connection client = connecting.join()) {
        client.sender().send(MemorySegment.ofArray(new byte[3]));
        server.receiver().receive().close();
      }
    }
  }

  /** The client is in this process, so that its memory counts as well. */
  @Test
  void aConnectionForWhichTheOthersLeaveTooLittleOfMaxMappedIsRefused() {
    try (Listener listener = listen("maxMapped=1GiB")) {
      CompletableFuture<Connection> connecting = connect(listener, "allocatable=800MiB");
      assertThatThrownBy(listener::accept)
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("of 1073741824")
          .hasMessageContaining("option maxMapped");
      assertRefused(connecting)
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("option maxMapped");
    }
  }

  @Test
  void aClientWhoseOwnMemoryWouldExceedMaxMappedReportsIt() {
    try (Listener listener = listen("")) {
      assertRefused(connect(listener, "maxMapped=1MiB"))
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("option maxMapped");
      assertServes(listener);
    }
  }

  @Test
  void aClientForWhichTheHeapIsTooSmallIsRefused() {
    try (Listener listener = listen("")) {
      failure.set(new OutOfMemoryError("Java heap space"));
      CompletableFuture<Connection> connecting = connect(listener, "");
      assertThatThrownBy(listener::accept)
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("Java heap space; raise the JVM's limit");
      assertRefused(connecting)
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("Java heap space");
      assertServes(listener);
    }
  }

  @Test
  void aClientIsAnsweredAlthoughTheListenersProgramIsBroken() {
    try (Listener listener = listen("")) {
      failure.set(new NoClassDefFoundError("dev/example/Missing"));
      CompletableFuture<Connection> connecting = connect(listener, "");
      assertThatThrownBy(listener::accept).isInstanceOf(NoClassDefFoundError.class);
      assertRefused(connecting)
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("dev/example/Missing");
      assertServes(listener);
    }
  }
}
