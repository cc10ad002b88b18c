// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Keepalives, in simulated time. */
class LinkStateTest {

  private static final int KEEPALIVES = 1_000;

  private final Link link = mock(Link.class);
  private final Peer peer = mock(Peer.class);
  private final LinkState state = new LinkState(link, peer, Duration.ofSeconds(1));
  private long now = System.nanoTime();

  private void tick() {
    now += state.interval();
    state.tick(now);
  }

  @Test
  void anIdlePeerThatAnswersIsKeptForManyTimeouts() {
    for (int i = 1; i <= KEEPALIVES; i++) {
      tick();
      verify(peer, times(i)).askWhetherAlive();
      state.heard(now);
    }
    verify(link, never()).onPeerSilent();
  }

  @Test
  void aPeerThatDoesNotAnswerIsReportedAfterTheTimeoutAndNotBefore() {
    tick();
    state.heard(now);
    for (int i = 0; i < 4; i++) {
      tick();
      verify(link, never()).onPeerSilent();
    }
    tick();
    verify(link).onPeerSilent();
  }
}
