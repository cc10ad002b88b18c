// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.sm.os.Access;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What one connection's files do to the others of an endpoint, whose thread serves them all. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EndpointTest {

  private static final int BROKEN = 1;
  private static final int OTHER = 2;

  @TempDir Path directory = Path.of("");

  private Endpoint endpoint;
  private Endpoint peers;

  /** A connection whose peer does nothing bad. */
  private static class Calm implements Link {
    final CountDownLatch wokenUp = new CountDownLatch(1);
    final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public void onWakeup() {
      wokenUp.countDown();
    }

    @Override
    public void onPeerClosed() {
      closed.countDown();
    }

    @Override
    public void onPeerGone() {}

    @Override
    public boolean onFragments() {
      return false;
    }

    @Override
    public boolean hasFragments() {
      return false;
    }

    @Override
    public boolean areFilesThere() {
      return true;
    }

    @Override
    public void onFilesGone(InternalError cause) {
      throw new AssertionError(cause);
    }

    @Override
    public void onPeerSilent() {}
  }

  /** A connection whose peer has truncated its files, until it is told so. */
  private static class Truncated extends Calm {
    final CountDownLatch told = new CountDownLatch(1);

    @Override
    public void onWakeup() {
      if (told.getCount() > 0) {
        throw new InternalError("a fault occurred in an unsafe memory access operation");
      }
    }

    @Override
    public boolean areFilesThere() {
      return false;
    }

    @Override
    public void onFilesGone(InternalError cause) {
      told.countDown();
    }
  }

  @BeforeEach
  void open() throws Exception {
    endpoint = Endpoint.open(new SmAddress(directory, null), Access.USER);
    peers = Endpoint.open(new SmAddress(directory, null), Access.USER);
    assertThat(endpoint).isNotNull();
    assertThat(peers).isNotNull();
  }

  @AfterEach
  void release() {
    endpoint.release();
    peers.release();
  }

  private void add(int id, Link link, Peer peer) {
    endpoint.addLink(id, link, peer, Duration.ZERO);
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldEndTheConnectionWhosePeerHasTruncatedItsFilesAndServeTheOthers() throws Exception {
    Truncated broken = new Truncated();
    Calm other = new Calm();
    try (Peer brokenPeer = new Peer(peers.address(), BROKEN, () -> {});
        Peer otherPeer = new Peer(peers.address(), OTHER, () -> {});
        Peer toBroken = new Peer(endpoint.address(), BROKEN, () -> {});
        Peer toOther = new Peer(endpoint.address(), OTHER, () -> {})) {
      add(BROKEN, broken, brokenPeer);
      add(OTHER, other, otherPeer);

      toBroken.wake();
      toOther.tellClosed();

      await(broken.told);
      await(other.closed);
      endpoint.removeLink(BROKEN);
      endpoint.removeLink(OTHER);
    }
  }

  /** Compiled code may be told of a fault late: what it was doing then is another's. */
  @Test
  void shouldTellAConnectionWhatWasCutShortByTheErrorOfAnother() throws Exception {
    Truncated broken = new Truncated();
    AtomicInteger told = new AtomicInteger();
    Calm other =
        new Calm() {
          @Override
          public void onPeerClosed() {
            if (told.getAndIncrement() == 0) {
              throw new InternalError("a fault occurred in an unsafe memory access operation");
            }
            super.onPeerClosed();
          }
        };
    try (Peer brokenPeer = new Peer(peers.address(), BROKEN, () -> {});
        Peer otherPeer = new Peer(peers.address(), OTHER, () -> {});
        Peer toOther = new Peer(endpoint.address(), OTHER, () -> {})) {
      add(BROKEN, broken, brokenPeer);
      add(OTHER, other, otherPeer);

      toOther.tellClosed();

      await(broken.told);
      await(other.closed);
      endpoint.removeLink(BROKEN);
      endpoint.removeLink(OTHER);
    }
  }
}
