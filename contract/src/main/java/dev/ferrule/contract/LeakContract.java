// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.StandardOptions;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Thousands of connections are opened and closed without leaking a descriptor, a mapping, a file or
 * a thread. The number is printed; see {@link ProviderUnderTest#connectCloseCycles()}.
 */
public abstract class LeakContract extends Contract {

  /** Cycles for one-time effects: loading classes, starting threads that are kept. */
  private static final int WARM_UP_CYCLES = 100;

  /** On a side path, fewer cycles suffice to find a leak of one resource per cycle. */
  private static final int SIDE_PATH_DIVISOR = 20;

  private static final MemorySegment MESSAGE = MemorySegment.ofArray(new byte[100]);

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected LeakContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void connectionsLeaveNothingBehindRegardlessOfTheClosingSide() {
    int cycles = provider.connectCloseCycles();
    Listener listener = listen(patient());
    cycle(listener, WARM_UP_CYCLES);
    Held before = held();

    long start = System.nanoTime();
    cycle(listener, cycles);
    System.out.printf(
        "%s: %,d connect/close cycles in %.1f s%n",
        getClass().getSimpleName(), cycles, (System.nanoTime() - start) / 1e9);

    assertThat(cycles)
        .as("cycles, see " + ProviderUnderTest.CYCLES_PROPERTY)
        .isGreaterThanOrEqualTo(100);
    assertNoMoreHeldThan(before);
  }

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void listenersLeaveNothingBehind() {
    Held before = null;
    for (int i = 0; i < cyclesOfASidePath(); i++) {
      if (i == WARM_UP_CYCLES) {
        before = held();
      }
      try (Listener listener = Ferrule.listen(provider.listenAddress(), patient())) {
        if (i % 4 == 0) {
          cycle(listener, 1);
        }
      }
    }
    assertNoMoreHeldThan(before);
    eventually(
        "no files are left", () -> provider.leftOverFiles().isEmpty(), provider::leftOverFiles);
  }

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void rejectedClientsLeaveNothingBehind() {
    Listener listener = listen(patient());
    int cycles = cyclesOfASidePath();
    Background<Boolean> rejecting =
        inBackground(
            "server",
            () -> {
              for (int i = 0; i < cycles; i++) {
                listener.nextRequest(PATIENCE).reject(new byte[] {1, 2, 3});
              }
            });
    Held before = null;
    for (int i = 0; i < cycles; i++) {
      if (i == WARM_UP_CYCLES) {
        before = held();
      }
      assertThatThrownBy(() -> Ferrule.connect(listener.uri(), patient()))
          .isInstanceOf(ConnectionRejectedException.class);
    }
    assertNoMoreHeldThan(before);
    rejecting.result();
  }

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void refusedClientsLeaveNothingBehind() {
    Listener listener = listen(patient());
    URI address = listener.uri();
    listener.close();
    Held before = null;
    for (int i = 0; i < cyclesOfASidePath(); i++) {
      if (i == WARM_UP_CYCLES) {
        before = held();
      }
      assertThatThrownBy(() -> Ferrule.connect(address, patient()))
          .isInstanceOf(ConnectionRefusedException.class);
    }
    assertNoMoreHeldThan(before);
  }

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void clientsThatGaveUpLeaveNothingBehind() {
    // limits the wait for a client that has ended without notice
    Listener listener =
        listen(options().set(StandardOptions.CONNECT_TIMEOUT, Duration.ofSeconds(2)).build());
    ConnectionOptions hasty =
        options().set(StandardOptions.CONNECT_TIMEOUT, Duration.ofMillis(5)).build();
    Held before = null;
    for (int i = 0; i < 80; i++) {
      if (i == 40) {
        before = held();
      }
      assertThatThrownBy(() -> Ferrule.connect(listener.uri(), hasty))
          .isInstanceOf(OperationTimeoutException.class);
      acceptNone(listener);
    }
    // A cancellation is lost if the listener's queue is full. The client then waits in the backlog,
    // and an accept finds that it has given up.
    int descriptors = before == null ? 0 : before.descriptors().size();
    eventually(
        "an accept has found each client that has given up",
        () -> {
          acceptNone(listener);
          return provider.openDescriptors().size() <= descriptors;
        },
        provider::openDescriptors);
    assertNoMoreHeldThan(before);
  }

  private static void acceptNone(Listener listener) {
    assertThatThrownBy(() -> listener.accept(Duration.ZERO))
        .isInstanceOf(OperationTimeoutException.class);
  }

  @Test
  void aConnectionThatWasClosedIsNotKeptInMemory() {
    Listener listener = listen(patient());
    List<WeakReference<Object>> references = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      closeOne(listener, references);
    }

    eventually(
        "the garbage collector finds the connections",
        () -> {
          System.gc();
          return references.stream().allMatch(reference -> reference.refersTo(null));
        });
  }

  /**
   * Returns options by which neither connecting nor closing times out, as a timeout would lose a
   * message in flight.
   */
  private ConnectionOptions patient() {
    return patientOptions().set(StandardOptions.CLOSE_TIMEOUT, PATIENCE).build();
  }

  private int cyclesOfASidePath() {
    return WARM_UP_CYCLES + Math.max(50, provider.connectCloseCycles() / SIDE_PATH_DIVISOR);
  }

  /**
   * Connects, sends a message each way and closes, from this thread and another one. The order of
   * closing changes with each cycle.
   */
  private void cycle(Listener listener, int cycles) {
    Background<Boolean> clients =
        inBackground(
            "clients",
            () -> {
              for (int i = 0; i < cycles; i++) {
                Connection client = Ferrule.connect(listener.uri(), patient());
                client.sender().send(MESSAGE);
                expectMessage(client);
                if (i % 3 == 1) {
                  expectEnd(client); // the server closes first
                }
                client.close();
              }
            });
    for (int i = 0; i < cycles; i++) {
      Connection server = listener.accept(PATIENCE);
      expectMessage(server);
      server.sender().send(MESSAGE);
      if (i % 3 == 0) {
        expectEnd(server); // the client closes first, or both sides close at the same time
      }
      server.close();
    }
    clients.result();
  }

  private static void expectMessage(Connection connection) {
    try (ReceiveRegion message = connection.receiver().receive(PATIENCE)) {
      assertThat(message.length()).isEqualTo((int) MESSAGE.byteSize());
    }
  }

  private static void expectEnd(Connection connection) {
    assertEndOfStream(() -> connection.receiver().receive(PATIENCE));
  }

  private void closeOne(Listener listener, List<WeakReference<Object>> references) {
    Background<Connection> connecting =
        Background.start("client", () -> Ferrule.connect(listener.uri(), patient()));
    Connection server = listener.accept(PATIENCE);
    Connection client = connecting.result();
    client.sender().send(MESSAGE);
    expectMessage(server);
    client.close();
    server.close();
    references.add(new WeakReference<>(client));
    references.add(new WeakReference<>(server));
  }

  private Held held() {
    return new Held(
        provider.openDescriptors(),
        provider.mappings(),
        provider.leftOverFiles(),
        SystemResources.threads());
  }

  /**
   * Waits a little, because a transport may still be releasing resources. After that there must not
   * be more than before.
   */
  private void assertNoMoreHeldThan(@Nullable Held before) {
    assertThat(before).as("resources held before").isNotNull();
    assertNoMore("descriptors", before.descriptors(), provider::openDescriptors);
    assertNoMore("mappings", before.mappings(), provider::mappings);
    assertNoMore("files", before.files(), provider::leftOverFiles);
    assertNoMore("threads", before.threads(), SystemResources::threads);
  }

  private static void assertNoMore(String what, List<String> before, Supplier<List<String>> now) {
    eventually(
        "there are no more " + what + " than the " + before.size() + " before",
        () -> now.get().size() <= before.size(),
        () ->
            "but "
                + now.get().size()
                + ": "
                + now.get().stream().limit(100).toList()
                + " instead of "
                + before);
  }

  /** The resources that this process holds at one moment. */
  private record Held(
      List<String> descriptors, List<String> mappings, List<String> files, List<String> threads) {}
}
