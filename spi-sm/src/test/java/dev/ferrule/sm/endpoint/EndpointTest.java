// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.contract.LoggedRecords;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.EventPoll;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.os.Access;
import dev.ferrule.spi.ConnectionSample;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One connection's files and failures do not affect the other connections of its endpoint, whose
 * thread serves them all.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EndpointTest {

  private static final int BROKEN = 1;
  private static final int OTHER = 2;

  @TempDir Path directory = Path.of("");

  private Endpoint endpoint;
  private Endpoint peers;

  /** A connection whose peer sends nothing invalid. */
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
    public ConnectionSample sample(int number, long nanos) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void onPeerSilent() {}
  }

  /** A connection whose callbacks fail. */
  private static class Failing extends Calm {
    final CountDownLatch woken = new CountDownLatch(1);

    @Override
    public void onWakeup() {
      woken.countDown();
      throw new InternalError("a fault occurred in an unsafe memory access operation");
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

  private static Peer peer(Endpoint at, int id) {
    return new Peer(EndpointFiles.openFifo(at.address().directory()), id, () -> {});
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(90, TimeUnit.SECONDS)).isTrue();
  }

  /** An answer to an earlier attempt may still be on its way to that name. */
  @Test
  void shouldNotReuseNumbersAtTheNextEndpointOfTheSameName() throws Exception {
    SmAddress name = peers.address();
    int earlier = peers.newConnection();
    peers.release();

    peers = Endpoint.open(name, Access.USER);

    assertThat(peers.address()).isEqualTo(name);
    assertThat(peers.newConnection()).isNotEqualTo(earlier);
  }

  @Test
  void shouldServeTheOthersWhenOneConnectionFails() throws Exception {
    Failing failing = new Failing();
    Calm other = new Calm();
    try (LoggedRecords logged = LoggedRecords.of(Endpoint.class);
        Peer failingPeer = peer(peers, BROKEN);
        Peer otherPeer = peer(peers, OTHER);
        Peer toFailing = peer(endpoint, BROKEN);
        Peer toOther = peer(endpoint, OTHER)) {
      add(BROKEN, failing, failingPeer);
      add(OTHER, other, otherPeer);

      toFailing.wake();
      await(failing.woken);
      toOther.notifyClosed();

      await(other.closed);
      endpoint.removeConnection(BROKEN);
      endpoint.removeConnection(OTHER);
      assertThat(logged.all())
          .singleElement()
          .satisfies(record -> {
            assertThat(record.getMessage()).contains(endpoint.address().uri().toString());
            assertThat(record.getThrown()).isInstanceOf(InternalError.class);
          });
    }
  }

  /** A poll whose first wait fails. */
  private static final class FailingOnce extends EventPoll {
    private boolean failed;

    @Override
    public int await(int timeoutMillis) {
      if (!failed) {
        failed = true;
        throw new OutOfMemoryError("thrown by the test");
      }
      return super.await(timeoutMillis);
    }
  }

  /** Such as a full heap: the thread's own work is not guarded for each connection. */
  @Test
  void shouldGoOnAfterAnErrorOfItsThread() throws Exception {
    endpoint.release();
    Calm other = new Calm();
    try (LoggedRecords logged = LoggedRecords.of(Endpoint.class)) {
      endpoint =
          Endpoint.open(
              new SmAddress(directory, null),
              Access.USER,
              UnaryOperator.identity(),
              FailingOnce::new);
      try (Peer otherPeer = peer(peers, OTHER);
          Peer toOther = peer(endpoint, OTHER)) {
        add(OTHER, other, otherPeer);
        toOther.notifyClosed();
        await(other.closed);
        endpoint.removeConnection(OTHER);
      }
      assertThat(logged.all())
          .singleElement()
          .satisfies(record -> assertThat(record.getThrown()).isInstanceOf(OutOfMemoryError.class));
    }
  }

  /** A poll that cannot wait for room in a pipe at first. */
  private static final class WithoutRoom extends EventPoll {
    final CountDownLatch failures = new CountDownLatch(2);

    @Override
    public void setRoomWanted(int fd, long key, boolean room) {
      if (failures.getCount() > 0) {
        failures.countDown();
        throw new PosixException("epoll_ctl", "thrown by the test", Errno.ENOMEM);
      }
      super.setRoomWanted(fd, key, room);
    }
  }

  /** Otherwise the peer would sleep forever. */
  @Test
  void shouldWriteAPendingHeaderAlthoughItCouldNotWaitForRoom() throws Exception {
    endpoint.release();
    WithoutRoom poll = new WithoutRoom();
    endpoint =
        Endpoint.open(
            new SmAddress(directory, null), Access.USER, UnaryOperator.identity(), () -> poll);
    Path path = directory.resolve("full");
    MemorySegment filling = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
    try (LoggedRecords logged = LoggedRecords.of(Endpoint.class);
        Fifo.Reader reader = new Fifo.Reader(path)) {
      Fifo.Writer writer =
          new Fifo.Writer(Posix.open(path.toString(), Posix.O_WRONLY | Posix.O_NONBLOCK, 0));
      try (Peer peer = new Peer(writer, OTHER, endpoint::onFullFifo)) {
        add(OTHER, new Calm(), peer);
        while (writer.write(filling) == Fifo.Writer.Result.WRITTEN) {
          continue;
        }
        peer.wake();
        await(poll.failures);
        assertThat(awaitHeaderOtherThan(0, reader))
            .isEqualTo(FifoHeader.of(FifoHeader.WAKEUP, OTHER));
        endpoint.removeConnection(OTHER);
      }
      assertThat(logged.all()).hasSize(2);
    }
  }

  private static int awaitHeaderOtherThan(int other, Fifo.Reader reader)
      throws InterruptedException {
    while (true) {
      int count = reader.read();
      for (int i = 0; i < count; i++) {
        if (reader.header(i) != other) {
          return reader.header(i);
        }
      }
      Thread.sleep(1);
    }
  }

  /** A connection that counts down when its peer has timed out. */
  private static class Watchful extends Calm {
    final CountDownLatch silent = new CountDownLatch(1);

    @Override
    public void onPeerSilent() {
      silent.countDown();
    }
  }

  /** A connection whose callback lasts until another thread waits for the endpoint's. */
  private static final class Slow extends Calm {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch over = new CountDownLatch(1);

    @Override
    public void onPeerSilent() {
      begun.countDown();
      try {
        over.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** A poll that counts down when it is woken. */
  private static final class Observed extends EventPoll {
    volatile CountDownLatch woken = new CountDownLatch(1);

    @Override
    public void wake() {
      super.wake();
      woken.countDown();
    }
  }

  /** The request comes after the thread has read the clock, and before it handles offers. */
  @Test
  void shouldNotForgetAThreadThatWaitsForDatagramsDuringACallback() throws Exception {
    endpoint.release();
    Observed poll = new Observed();
    endpoint =
        Endpoint.open(
            new SmAddress(directory, null), Access.USER, UnaryOperator.identity(), () -> poll);
    Slow slow = new Slow();
    try (Peer silentPeer = peer(peers, BROKEN)) {
      endpoint.addLink(BROKEN, slow, silentPeer, Duration.ofMillis(10));
      endpoint.established(BROKEN);
      await(slow.begun);
      poll.woken = new CountDownLatch(1);
      FutureTask<Boolean> waiting =
          new FutureTask<>(() -> endpoint.loop().awaitDatagrams(TimeUnit.SECONDS.toNanos(90)));
      Thread.ofPlatform().daemon().start(waiting);
      await(poll.woken);
      slow.over.countDown();
      assertThat(waiting.get()).isTrue();
      endpoint.removeConnection(BROKEN);
    }
  }

  @Test
  void shouldDetectASilentPeerOfAConnectionAddedToOnesWithLongerTimeouts() throws Exception {
    Watchful hasty = new Watchful();
    try (Peer otherPeer = peer(peers, OTHER);
        Peer silentPeer = peer(peers, BROKEN)) {
      endpoint.addLink(OTHER, new Calm(), otherPeer, Duration.ofHours(1));
      endpoint.addLink(BROKEN, hasty, silentPeer, Duration.ofMillis(100));
      endpoint.established(BROKEN);
      await(hasty.silent);
      endpoint.removeConnection(BROKEN);
      endpoint.removeConnection(OTHER);
    }
  }
}
