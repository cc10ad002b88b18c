// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.ConnectionState;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.contract.SystemResources;
import dev.ferrule.posix.SealedFile;
import java.net.URI;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Processes are killed and stopped under load, repeatedly, each time at another moment. The system
 * property {@value #ROUNDS_PROPERTY} sets the number of rounds, which is 1 in every build, see
 * CONTRIBUTING.md.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KillSoakTest extends ProcessTest {

  private static final String ROUNDS_PROPERTY = "ferrule.soak.rounds";
  private static final int ROUNDS = Integer.getInteger(ROUNDS_PROPERTY, 1);
  private static final long SEED = Long.getLong("ferrule.soak.seed", System.nanoTime());

  /** Time within which a survivor must detect the loss. */
  private static final Duration BOUND = Duration.ofSeconds(90);

  private static final int MESSAGES_UNDER_LOAD = 10;
  private static final int LONGEST_DELAY_MILLIS = 30;
  private static final int ROUNDS_BETWEEN_REPORTS = 50;
  private static final long BETWEEN_QUESTIONS_NANOS = 1_000_000;

  private final Random random = new Random(SEED);
  private Listener listener;
  private OtherProcess bystander;
  private Connection unaffected;
  private CompletableFuture<Void> asking;

  /** One side of a connection that will be lost. */
  private record Busy(Connection connection, CompletableFuture<Void> task) {

    static Busy of(Connection connection, Load load) {
      return new Busy(connection, inBackground("busy-" + load, () -> load.run(connection)));
    }

    long messages() {
      return connection.counters().messagesSent() + connection.counters().messagesReceived();
    }
  }

  private static CompletableFuture<Void> inBackground(String name, Runnable work) {
    CompletableFuture<Void> task = new CompletableFuture<>();
    Thread.ofPlatform()
        .name(name)
        .daemon()
        .start(() -> {
          try {
            work.run();
            task.complete(null);
          } catch (Throwable e) {
            task.completeExceptionally(e);
          }
        });
    return task;
  }

  /** Pauses between requests, to leave the processors to the victims. */
  private static void askNowAndThen(Connection connection) {
    for (int i = 0; true; i++) {
      Load.send(connection, i);
      Load.receive(connection, i);
      LockSupport.parkNanos(BETWEEN_QUESTIONS_NANOS);
    }
  }

  @BeforeEach
  void begin() {
    System.out.println(getClass().getSimpleName() + ": seed " + SEED + ", " + ROUNDS + " rounds");
    listener = Ferrule.listen(URI.create(address() + "/survivor"));
    bystander = OtherProcess.start("serve", address() + "/bystander");
    unaffected = Ferrule.connect(URI.create(bystander.line()), Load.options(Load.ECHO));
    asking = inBackground("asking", () -> askNowAndThen(unaffected));
  }

  @AfterEach
  void end() {
    unaffected.close();
    bystander.close();
    listener.close();
  }

  /** Accepts the connections of a process that has connected to this one. */
  private static List<Busy> accept(Listener listener) {
    List<Busy> all = new ArrayList<>();
    accept(listener, all);
    return all;
  }

  private static void accept(Listener listener, List<Busy> all) {
    while (all.size() < Load.values().length) {
      ConnectionRequest request = listener.nextRequest(BOUND);
      Load load = Load.of(request.payload());
      all.add(Busy.of(request.accept(), load));
    }
  }

  /** Connects to a process that listens. */
  private static List<Busy> connect(URI address) {
    List<Busy> all = new ArrayList<>();
    for (Load load : Load.values()) {
      all.add(Busy.of(Ferrule.connect(address, Load.options(load.counterpart())), load));
    }
    return all;
  }

  private void awaitSomeLoad(List<Busy> all) throws Exception {
    awaitMessages(all);
    for (Busy busy : all) {
      assertThat(busy.task()).as("before the loss").isNotDone();
    }
    awaitAnyMomentUnderLoad(all.get(0));
  }

  private static void awaitMessages(List<Busy> all) throws Exception {
    for (Busy busy : all) {
      await(() -> busy.messages() > 0 || busy.task().isDone());
    }
  }

  private void awaitAnyMomentUnderLoad(Busy busy) throws Exception {
    await(() -> busy.messages() > MESSAGES_UNDER_LOAD || busy.task().isDone());
    Thread.sleep(random.nextInt(LONGEST_DELAY_MILLIS)); // any moment will do
  }

  /**
   * Accepts the connections of a process, and waits until all of them are under load.
   *
   * @return the connections; none if the process was so slow that one of them timed out
   */
  private List<Busy> acceptSomeLoad(Listener impatient) throws Exception {
    List<Busy> all = new ArrayList<>();
    try {
      accept(impatient, all);
      awaitMessages(all);
      awaitAnyMomentUnderLoad(all.get(0));
    } catch (PeerLostException e) {
      closeAfterALoss(all);
      return List.of();
    }
    if (all.stream().anyMatch(busy -> busy.task().isDone())) {
      closeAfterALoss(all);
      return List.of();
    }
    return all;
  }

  private static void closeAfterALoss(List<Busy> all) {
    System.out.println("KillSoakTest: a connection was lost before the stop");
    assertAllAreLost(all.stream().filter(busy -> busy.task().isDone()).toList());
    all.forEach(busy -> busy.connection().close());
  }

  private static void assertAllAreLost(List<Busy> all) {
    for (Busy busy : all) {
      Throwable end = null;
      try {
        busy.task().get(BOUND.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        end = e.getCause();
      } catch (InterruptedException | TimeoutException e) {
        throw new AssertionError("a survivor hangs: " + busy.connection(), e);
      }
      assertThat(end).isInstanceOf(PeerLostException.class);
      assertThat(busy.connection().state()).isEqualTo(ConnectionState.FAILED);
      busy.connection().close();
    }
  }

  /** Returns the resources of this process, without those that vary by themselves. */
  private List<String> held() {
    List<String> held = new ArrayList<>(SystemResources.mappings("/memfd:" + SealedFile.NAME));
    SystemResources.openDescriptors().stream()
        .filter(target -> target.startsWith(directory.toString()))
        .forEach(held::add);
    return held;
  }

  private void assertNoOtherIsAffected(List<String> before) throws Exception {
    long asked = unaffected.counters().messagesReceived();
    await(() -> unaffected.counters().messagesReceived() > asked || asking.isDone());
    assertThat(asking).as("the connection with another process").isNotDone();
    await(() -> held().size() == before.size());
    assertThat(held()).as("leak of what a process holds").containsExactlyElementsOf(before);
  }

  /** Reports the progress, for runs of several hours. */
  private static void report(int round, String what) {
    if ((round + 1) % ROUNDS_BETWEEN_REPORTS == 0) {
      System.out.println(LocalTime.now().withNano(0) + " " + (round + 1) + " " + what);
    }
  }

  @Test
  void killedClientsAffectNoOthersAndLeaveNothingBehind() throws Exception {
    List<String> before = held();
    for (int i = 0; i < ROUNDS; i++) {
      try (OtherProcess other = OtherProcess.start("load", listener.uri().toString())) {
        List<Busy> all = accept(listener);
        awaitSomeLoad(all);
        other.kill();
        assertAllAreLost(all);
      }
      assertNoOtherIsAffected(before);
      report(i, "clients killed");
    }
  }

  @Test
  void killedServersAffectNoOthersAndLeaveNothingBehind() throws Exception {
    URI address = URI.create(address() + "/victim");
    List<String> before = held();
    for (int i = 0; i < ROUNDS; i++) {
      try (OtherProcess other = OtherProcess.start("serve", address.toString())) {
        List<Busy> all = connect(URI.create(other.line()));
        awaitSomeLoad(all);
        other.kill();
        assertAllAreLost(all);
      }
      assertNoOtherIsAffected(before);
      report(i, "servers killed");
    }
    Ferrule.listen(address).close(); // the next listener cleans up
    assertThat(SystemResources.files(directory.resolve("victim")))
        .as("leak of files")
        .hasSizeLessThanOrEqualTo(1);
  }

  @Test
  void stoppedProcessesTimeOutAndReconnect() throws Exception {
    int rounds = 0;
    while (rounds < ROUNDS) {
      rounds = stopRepeatedly(rounds);
    }
  }

  /**
   * Stops a process in each round, until a connection is lost before: on a slow machine, a process
   * may be silent for that long without being stopped.
   *
   * @param first the first round
   * @return the next round
   */
  private int stopRepeatedly(int first) throws Exception {
    try (Listener impatient = Ferrule.listen(URI.create(address() + "/impatient?peerTimeout=2s"));
        OtherProcess other = OtherProcess.start("load", impatient.uri().toString())) {
      List<String> before = held();
      for (int i = first; i < ROUNDS; i++) {
        List<Busy> all = acceptSomeLoad(impatient);
        if (all.isEmpty()) {
          return i;
        }
        other.stop();
        assertAllAreLost(all);
        assertNoOtherIsAffected(before);
        other.resume();
        for (int line = 0; line < all.size(); line++) {
          assertThat(other.line()).contains(" ended by ");
        }
        assertThat(other.line()).isEqualTo("all have ended");
        report(i, "times stopped");
      }
      return ROUNDS;
    }
  }
}
