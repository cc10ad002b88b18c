// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import dev.ferrule.posix.Fifo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keepalives, in simulated time, and in the FIFO of a peer's endpoint. */
class LinkStateTest {

  private static final int KEEPALIVES = 1_000;
  private static final int CONNECTION = 7;
  private static final long LATE = TimeUnit.MILLISECONDS.toNanos(1);

  @TempDir Path directory = Path.of("");

  private final Link link = mock(Link.class);
  private Fifo.Reader received;
  private Peer peer;
  private LinkState state;
  private long now;

  @BeforeEach
  void open() throws Exception {
    SmAddress endpoint = new SmAddress(directory, new SmAddress.Id(1, 1));
    Files.createDirectories(endpoint.directory());
    received = new Fifo.Reader(endpoint.directory().resolve(EndpointFiles.FIFO));
    peer = new Peer(EndpointFiles.openFifo(endpoint.directory()), CONNECTION, () -> {});
    state = new LinkState(link, peer, Duration.ofSeconds(1));
    now = System.nanoTime(); // not before the state's own times
  }

  @AfterEach
  void close() {
    peer.close();
    received.close();
  }

  /** Lets an interval pass, and a little more, as a thread wakes late. */
  private void tick() {
    now += state.interval() + LATE;
    state.tick(now);
  }

  @Test
  void anIdlePeerThatAnswersIsKeptForManyTimeouts() {
    state.establish();
    for (int i = 1; i <= KEEPALIVES; i++) {
      tick();
      assertThat(received.read()).isEqualTo(1);
      assertThat(received.header(0)).isEqualTo(FifoHeader.of(FifoHeader.KEEPALIVE, CONNECTION));
      state.heard();
    }
    verify(link, never()).onPeerSilent();
  }

  /** During the handshake, which has its own timeout. */
  @Test
  void aPeerThatMayNotHaveTheConnectionYetIsNotReported() {
    for (int i = 0; i < KEEPALIVES; i++) {
      tick();
    }
    verify(link, never()).onPeerSilent();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.01, 0.3, 0.49, 0.51, 0.9, 1})
  void aPeerIsReportedInTimeAlsoIfAnotherConnectionHasMoreTicks(double partOfAnInterval) {
    long step = (long) (partOfAnInterval * state.interval());
    state.establish();
    now += state.interval();
    state.tick(now);
    long asked = now;
    while (now - asked + step <= 5 * state.interval()) {
      if (now - asked < 4 * state.interval()) {
        verify(link, never()).onPeerSilent();
      }
      now += step;
      state.tick(now);
    }
    verify(link, atLeastOnce()).onPeerSilent();
  }

  /** The peer may stop at any time before the first keepalive that it does not answer. */
  @Test
  void aPeerThatDoesNotAnswerIsReportedAfterTheTimeoutAndNotBefore() {
    state.establish();
    tick();
    state.heard();
    for (int i = 0; i < 4; i++) {
      tick();
      verify(link, never()).onPeerSilent();
    }
    tick();
    verify(link).onPeerSilent();
  }
}
