// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.ring.RingTestPoint;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A thread or process that stops forever at any step blocks no other. */
class StepsTest extends ProcessTest {

  private static final int SECONDS = 90;

  private static ConnectionOptions options() {
    return ConnectionOptions.builder()
        .set(
            StandardOptions.MAX_MESSAGE,
            16L * 1024) // so that lines run out, and the receiver must release some
        .set(StandardOptions.WAIT, WaitStrategy.BLOCK) // so that it must be woken,
        .set(StandardOptions.PEER_TIMEOUT, Duration.ZERO) // and not by a keepalive
        .build();
  }

  /** Two ends in this process, over which messages pass regardless of other processes. */
  private record Own(Connection client, Connection server) implements AutoCloseable {

    static Own open(Listener listener) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
      Connection server = listener.accept();
      return new Own(connecting.join(), server);
    }

    void pass(int value) {
      client.sender().send(MemorySegment.ofArray(new int[] {value}));
      try (ReceiveRegion message = server.receiver().receive()) {
        assertThat(message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(value);
      }
    }

    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  /** Receives until each of the continuing threads has sent its last message. */
  private static CompletableFuture<Void> receiveAll(Connection connection) {
    return inBackground(() -> {
      int[] counts = new int[1 + SteppedPeer.OTHERS];
      int last = 0;
      while (last < SteppedPeer.OTHERS) {
        try (ReceiveRegion message = connection.receiver().receive()) {
          last += Numbered.verify(message.segment(), counts) ? 1 : 0;
        }
      }
    });
  }

  private static CompletableFuture<Void> inBackground(Runnable work) {
    return CompletableFuture.runAsync(work, task -> new Thread(task, "background").start());
  }

  /**
   * Checks that no file is left when the dead process was detected and this one has closed
   * everything.
   */
  private void assertNothingIsLeft() throws Exception {
    Ferrule.listen(URI.create(address())).close(); // removes the files of dead processes
    assertThat(files()).isEmpty();
  }

  @Test
  void aThreadThatStopsAtAnyStepOfASendBlocksNoOtherAndAllPeersDetectItsProcessesEnd()
      throws Exception {
    List<RingTestPoint> steps = SteppedPeer.senderSteps();
    List<Connection> connections = new ArrayList<>();
    try (Listener listener = Ferrule.listen(URI.create(address()), options());
        Own own = Own.open(listener);
        OtherProcess other = OtherProcess.start("several", listener.uri().toString());
        Connection common = listener.accept()) {
      CompletableFuture<Void> fromCommon = receiveAll(common);
      for (RingTestPoint step : steps) {
        Connection connection = listener.accept();
        connections.add(connection);
        CompletableFuture<Void> receiving = receiveAll(connection);
        assertThat(other.line()).isEqualTo("stopped at " + step);
        receiving.get(SECONDS, TimeUnit.SECONDS);
        own.pass(step.ordinal());
      }
      fromCommon.get(SECONDS, TimeUnit.SECONDS);
      assertThat(other.line()).isEqualTo("the others have sent all");
      assertThat(connections)
          .allSatisfy(one -> assertThat(one.state()).isEqualTo(ConnectionState.OPEN));

      other.kill();

      connections.add(common);
      for (Connection connection : connections) {
        CompletableFuture<Void> receiving = inBackground(() -> receiveUntilTheEnd(connection));
        assertLost(receiving);
        assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
      }
      own.pass(-1);
    } finally {
      connections.forEach(Connection::close);
    }
    assertNothingIsLeft();
  }

  private static void receiveUntilTheEnd(Connection connection) {
    while (true) {
      connection.receiver().receive().close();
    }
  }

  private static void assertLost(CompletableFuture<Void> waiting) {
    assertThatThrownBy(() -> waiting.get(SECONDS, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(PeerLostException.class);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.MATCH_ALL, names = "(SENDER|RECORD)_.*")
  void aSenderThatIsKilledAtAnyStepIsDetectedAndBlocksNoOther(RingTestPoint step) throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address()), options());
        Own own = Own.open(listener);
        OtherProcess other =
            OtherProcess.start("stopped sender", listener.uri().toString(), step.name());
        Connection connection = listener.accept()) {
      int[] counts = new int[1];
      CompletableFuture<Void> receiving =
          inBackground(() -> {
            while (true) {
              try (ReceiveRegion message = connection.receiver().receive()) {
                Numbered.verify(message.segment(), counts);
              }
            }
          });
      assertThat(other.line()).isEqualTo("stopped");
      own.pass(1);
      other.kill();

      assertLost(receiving);
      own.pass(2);
    }
    assertNothingIsLeft();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.MATCH_ALL, names = "RECEIVER_.*")
  void aReceiverThatIsKilledAtAnyStepIsDetectedByAllSendersAndBlocksNoOther(RingTestPoint step)
      throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address()), options());
        Own own = Own.open(listener);
        OtherProcess other =
            OtherProcess.start("stopped receiver", listener.uri().toString(), step.name());
        Connection connection = listener.accept()) {
      List<CompletableFuture<Void>> sending = new ArrayList<>();
      for (int thread = 0; thread < 3; thread++) {
        int me = thread;
        Sender sender = connection.newSender();
        sending.add(inBackground(() -> sendUntilTheEnd(sender, me)));
      }
      assertThat(other.line()).isEqualTo("connected");
      await(() -> connection.counters().wakeupsReceived() > 0 || anyIsDone(sending));
      other.goOn();
      assertThat(other.line()).isEqualTo("stopped");
      own.pass(1);
      other.kill();

      sending.forEach(StepsTest::assertLost);
      own.pass(2);
    }
    assertNothingIsLeft();
  }

  private static boolean anyIsDone(List<CompletableFuture<Void>> sending) {
    return sending.stream().anyMatch(CompletableFuture::isDone);
  }

  private static void sendUntilTheEnd(Sender sender, int thread) {
    for (int number = 0; ; number++) {
      Numbered.send(sender, thread, number, false);
    }
  }
}
