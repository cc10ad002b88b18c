// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.RegisteredMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the lifetime of registered memory that several connections use. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedRegistrationTest {

  private final MemorySegment segment = Arena.ofAuto().allocate(64);
  private final List<String> events = new CopyOnWriteArrayList<>();

  /** A use whose messages a test controls. */
  private final class Use extends MemoryUse {
    private final Peer peer;
    private boolean staged;
    private boolean acknowledges = true;

    Use(SharedRegistration memory, Peer peer) {
      super(memory, peer.life);
      this.peer = peer;
    }

    @Override
    protected boolean awaitPosted(long start) {
      peer.whenPosted.run();
      return !staged;
    }

    @Override
    protected boolean awaitUnused(long start) {
      events.add("await " + peer.name);
      peer.whenAwaited.run();
      return acknowledges;
    }

    @Override
    protected void giveUp() {
      boolean ignored = peer.life.lost("timed out");
    }

    @Override
    protected void release() {
      peer.whenReleased.run();
      events.add("release " + peer.name);
    }
  }

  /** A use of another provider. */
  private static final class OtherUse extends MemoryUse {
    OtherUse(SharedRegistration memory) {
      super(memory, new Lifecycle(mock(Connection.class)));
    }

    @Override
    protected boolean awaitUnused(long start) {
      return true;
    }

    @Override
    protected void giveUp() {}
  }

  /** A connection. */
  private final class Peer {
    private final String name;
    private final Connection connection = mock(Connection.class);
    private final Lifecycle life = new Lifecycle(connection);
    private final MemoryUses<Use> uses;
    private final RecentMemory<Use> recent;
    private Runnable whenPosted = () -> {};
    private Runnable whenAwaited = () -> {};
    private Runnable whenReleased = () -> {};
    private int begun;

    Peer(String name) {
      this.name = name;
      URI uri = URI.create("first://" + name);
      when(connection.uri()).thenReturn(uri);
      uses =
          new MemoryUses<>(
              Use.class,
              uri,
              life,
              memory -> {
                begun++;
                return new Use(memory, this);
              });
      recent = new RecentMemory<>(uses);
    }

    void close() {
      life.close();
      life.release();
      uses.close();
    }
  }

  private final Peer a = new Peer("a");
  private final Peer b = new Peer("b");
  private final Peer c = new Peer("c");

  private void assertClosed(RegisteredMemory memory) {
    assertThatThrownBy(() -> new Peer("late").recent.use(memory))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the registered memory is closed; register it again");
  }

  @Test
  void aConnectionHasOneUseOfAMemoryForAllItsSenders() {
    RegisteredMemory first = a.uses.register(segment);
    RegisteredMemory second = a.uses.register(segment);
    Use use = b.recent.use(first);

    assertThat(b.recent.use(first)).isSameAs(use);
    assertThat(b.recent.use(second)).isNotSameAs(use);
    assertThat(b.recent.use(first)).isSameAs(use).isSameAs(new RecentMemory<>(b.uses).use(first));
    assertThat(use.segment()).isSameAs(first.segment()).isSameAs(segment);
    assertThat(a.begun).isEqualTo(2);
    assertThat(b.begun).isEqualTo(2);
  }

  @Test
  void closingWaitsForEachConnectionOnceAndReleasesAllUses() {
    RegisteredMemory memory = a.uses.register(segment);
    b.recent.use(memory);

    memory.close();
    memory.close();

    assertThat(events).containsExactly("await a", "release a", "await b", "release b");
    assertThatThrownBy(() -> b.recent.use(memory)).isInstanceOf(IllegalStateException.class);
    assertClosed(memory);
  }

  @Test
  void theMemoryLivesUntilTheLastConnectionCloses() {
    RegisteredMemory memory = a.uses.register(segment);
    b.recent.use(memory);

    a.close();
    c.recent.use(memory);
    b.close();
    assertThat(events).containsExactly("release a", "release b");
    assertThat(c.recent.use(memory).memory().isOpen()).isTrue();
    c.close();

    assertThat(events).containsExactly("release a", "release b", "release c");
    assertThatThrownBy(() -> c.recent.use(memory)).isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(() -> new RecentMemory<>(c.uses).use(memory))
        .isInstanceOf(ConnectionClosedException.class);
    assertClosed(memory);
    memory.close();
    assertThat(events).hasSize(3);
  }

  @Test
  void aConnectionThatHasEndedUsesNoFurtherMemory() {
    RegisteredMemory memory = a.uses.register(segment);
    b.close();

    assertThatThrownBy(() -> new RecentMemory<>(b.uses).use(memory))
        .isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(() -> b.uses.register(segment))
        .isInstanceOf(ConnectionClosedException.class);
    assertThat(b.begun).isZero();
    a.close();
    assertClosed(memory);
  }

  @Test
  void aCloseThatIsRefusedLeavesTheMemoryOpenForAll() {
    RegisteredMemory memory = a.uses.register(segment);
    Use use = b.recent.use(memory);
    use.staged = true;

    assertThatThrownBy(memory::close).hasMessageContaining("is staged: flush it");
    c.recent.use(memory);
    assertThat(events).isEmpty();

    use.staged = false;
    memory.close();
    assertThat(events).contains("release a", "release b", "release c").hasSize(6);
  }

  @Test
  void aCloseThatIsRefusedDoesNotOpenMemoryThatAnotherThreadIsClosing() {
    RegisteredMemory memory = a.uses.register(segment);
    Use use = a.recent.use(memory);
    use.staged = true;
    a.whenPosted =
        () -> {
          a.whenPosted = () -> {};
          assertThatThrownBy(memory::close).hasMessageContaining("is staged: flush it");
          assertClosed(memory);
          use.staged = false;
        };

    memory.close();

    assertThat(events).containsExactly("await a", "release a");
  }

  @Test
  void aConnectionThatDoesNotAcknowledgeEndsAndItsCallbackMayCloseTheMemory() {
    RegisteredMemory memory = a.uses.register(segment);
    b.recent.use(memory).acknowledges = false;
    c.recent.use(memory);
    b.life.onEnd(ended -> {
      events.add("end b");
      b.close();
      events.add("closed b");
      memory.close();
    });

    memory.close();

    assertThat(events)
        .startsWith("await a", "release a", "await b", "end b", "release b", "closed b")
        .contains("release c");
    assertThat(c.life.hasEnded()).isFalse();
  }

  @Test
  void aConnectionMayCloseWhileTheMemoryIsBeingClosed() {
    RegisteredMemory memory = a.uses.register(segment);
    b.recent.use(memory);
    a.whenAwaited = b::close;

    memory.close();

    assertThat(events).containsExactly("await a", "release b", "release a", "await b");
    assertClosed(memory);
  }

  /** The device must not be closed before the release. */
  @Test
  void theCloseOfAConnectionWaitsForAReleaseByAnotherThread() throws Exception {
    Peer peer = new Peer("a");
    RegisteredMemory memory = peer.uses.register(segment);
    CountDownLatch releasing = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    peer.whenReleased =
        () -> {
          releasing.countDown();
          await(goOn);
        };
    Thread closing = Thread.ofPlatform().daemon().start(memory::close);
    releasing.await();

    Thread ending = Thread.ofPlatform().daemon().start(peer::close);
    while (ending.getState() != Thread.State.BLOCKED && ending.isAlive()) {
      Thread.yield();
    }

    assertThat(ending.isAlive()).isTrue();
    goOn.countDown();
    closing.join();
    ending.join();
    assertThat(events).containsExactly("await a", "release a");
  }

  @Test
  void noConnectionBeginsToUseMemoryThatIsBeingClosed() {
    RegisteredMemory memory = a.uses.register(segment);
    a.whenAwaited =
        () ->
            assertThatThrownBy(() -> new RecentMemory<>(b.uses).use(memory))
                .isInstanceOf(IllegalStateException.class);

    memory.close();

    assertThat(b.begun).isZero();
  }

  @Test
  void eachOfSeveralClosesReturnsWhenTheRegistrationHasEnded() throws Exception {
    RegisteredMemory memory = a.uses.register(segment);
    CountDownLatch awaited = new CountDownLatch(2);
    CountDownLatch acknowledged = new CountDownLatch(1);
    a.whenAwaited =
        () -> {
          awaited.countDown();
          await(acknowledged);
        };
    FutureTask<Boolean> first = start(memory);
    FutureTask<Boolean> second = start(memory);
    await(awaited);
    assertThat(first.isDone() || second.isDone()).isFalse();

    acknowledged.countDown();

    first.get();
    second.get();
    assertThat(events).containsExactly("await a", "await a", "release a");
    assertClosed(memory);
  }

  private static FutureTask<Boolean> start(RegisteredMemory memory) {
    FutureTask<Boolean> closing = new FutureTask<>(memory::close, true);
    Thread.ofPlatform().daemon().start(closing);
    return closing;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void memoryOfAnotherProviderIsRefusedByTheNamesOfBoth() {
    URI uri = URI.create("second://x");
    MemoryUses<OtherUse> others =
        new MemoryUses<>(OtherUse.class, uri, new Lifecycle(mock(Connection.class)), OtherUse::new);

    assertThatThrownBy(() -> a.recent.use(others.register(segment)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the memory was registered with second://x, and first://a is of another provider:"
                + " register it with this connection, too");
    assertThatThrownBy(() -> a.recent.use(mock(RegisteredMemory.class)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void freedMemoryIsRefused() {
    RegisteredMemory memory;
    try (Arena arena = Arena.ofShared()) {
      memory = a.uses.register(arena.allocate(64));
      a.recent.use(memory);
    }

    assertThatThrownBy(() -> a.recent.use(memory)).hasMessageContaining("was freed");
    assertThatThrownBy(() -> b.recent.use(memory)).hasMessageContaining("was freed");
    memory.close();
    assertThat(events).containsExactly("await a", "release a");
  }
}
