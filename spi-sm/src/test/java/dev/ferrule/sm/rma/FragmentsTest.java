// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Both sides of fragments, and the initiator's notifications of the target. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FragmentsTest {

  private static final int SIZE = 4096;
  private static final int FRAGMENTS = 30_000;

  /** About as long as the target stays awake. */
  private static final int SHORTEST_PAUSE_NANOS = 20_000;

  private static final int LONGEST_PAUSE_NANOS = 50_000;

  private final Arena arena = Arena.ofShared();
  private final Semaphore notifications = new Semaphore(0);
  private volatile boolean over;
  private final MemorySegment local = arena.allocate(SIZE).fill((byte) 1);
  private final MemorySegment exposed = arena.allocate(SIZE);
  private RemoteRegion remote;
  private Fragments initiator;
  private FragmentServer target;
  private Runnable whenItFallsAsleep = () -> {};
  private long lastDone;

  @BeforeEach
  void makeBothSides() {
    RmaArea initiators = RmaAreas.allocate(arena, 64 << 10);
    RmaArea targets = RmaAreas.allocate(arena, 64 << 10);
    RegionTable regions = new RegionTable(targets, initiators, null);
    ExposedRegion region = regions.add(exposed, EnumSet.allOf(RmaRight.class));
    remote = new RemoteTable(initiators, targets).find(region.key());
    initiator = new Fragments(initiators, targets, notifications::release);
    target =
        new FragmentServer(targets, initiators, regions, () -> {}) {
          @Override
          void beforeSleep() {
            whenItFallsAsleep.run();
          }
        };
  }

  @AfterEach
  void close() {
    arena.close();
  }

  private boolean write(long id) {
    return submit(true, local, id);
  }

  private boolean submit(boolean write, MemorySegment memory, long id) {
    Transfer transfer = new Transfer();
    transfer.begin(write, memory, 0, remote, 0, SIZE / 8);
    return initiator.trySubmit(transfer, id);
  }

  private void reap() {
    initiator.reap((id, status, isLast) -> {
      assertThat(status).isEqualTo(RmaLayout.DONE);
      lastDone = id;
    });
  }

  @Test
  void aTargetIsNotifiedOfTheFirstFragmentOnlyWhileItPolls() {
    assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "one processor: it never does");
    write(1);
    write(2);
    assertThat(notifications.availablePermits()).isEqualTo(1);
    assertThat(target.serve()).isTrue();
    reap();
    assertThat(lastDone).isEqualTo(2);

    write(3);
    assertThat(notifications.availablePermits()).isEqualTo(1);
    assertThat(target.serve()).isTrue();
    reap();
    assertThat(lastDone).isEqualTo(3);

    while (target.serve()) {
      assertThat(notifications.availablePermits()).isEqualTo(1);
    }
    write(4);
    assertThat(notifications.availablePermits()).isEqualTo(2);
  }

  @Test
  void aFragmentThatArrivesWhileTheTargetFallsAsleepIsHandled() {
    assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "one processor: it never does");
    whenItFallsAsleep =
        () -> {
          whenItFallsAsleep = () -> {};
          write(2);
        };
    write(1);
    boolean more = true;
    while (more) { // no other thread calls it when it sleeps, as it is not notified
      more = target.serve();
      reap();
    }
    assertThat(notifications.availablePermits()).isEqualTo(1);
    assertThat(lastDone).isEqualTo(2);
  }

  @Test
  void anInitiatorHasWorkBeforeTheTargetHasDoneItAll() {
    for (int id = 1; id <= 20; id++) {
      assertThat(write(id)).isTrue();
    }
    target.serve();
    reap();
    assertThat(lastDone).as("other connections are served").isBetween(1L, 19L);
    while (lastDone < 20) {
      assertThat(target.serve()).isTrue();
      reap();
    }
  }

  @Test
  void aFragmentThatCannotBeCopiedTakesNoRoom() {
    Arena closed = Arena.ofShared();
    MemorySegment freed = closed.allocate(SIZE);
    closed.close();
    for (int i = 0; i < 1000; i++) {
      assertThatThrownBy(() -> submit(true, freed, 1)).isInstanceOf(IllegalStateException.class);
    }

    assertThat(write(1)).isTrue();
    target.serve();
    reap();
    assertThat(lastDone).isEqualTo(1);
  }

  @Test
  void aReadIntoMemoryThatWasFreedMeanwhileFailsAndTheNextOneDoesNot() {
    Arena closed = Arena.ofShared();
    MemorySegment freed = closed.allocate(SIZE);
    submit(false, freed, 1);
    write(2);
    closed.close();
    target.serve();

    List<Integer> statuses = new ArrayList<>();
    initiator.reap((id, status, isLast) -> statuses.add(status));

    assertThat(statuses).containsExactly(RmaLayout.FAULT, RmaLayout.DONE);
  }

  /** Fragments arrive at moments when the target may be falling asleep. */
  @Test
  void noFragmentIsLeftUnhandledByATargetThatFallsAsleep() throws Exception {
    CompletableFuture<Void> serving =
        CompletableFuture.runAsync(
            () -> {
              while (!over) {
                if (!target.serve()) {
                  notifications.acquireUninterruptibly();
                }
              }
            },
            task -> Thread.ofPlatform().daemon().start(task));
    SplittableRandom random = new SplittableRandom(11);
    for (long id = 1; id <= FRAGMENTS; id++) {
      while (!write(id)) {
        reap();
      }
      if (random.nextInt(4) > 0) {
        long until = System.nanoTime() + random.nextInt(SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS);
        while (System.nanoTime() < until) {
          Thread.onSpinWait();
        }
      } else {
        while (lastDone < id) { // otherwise it never falls asleep
          assertThat(serving).isNotDone();
          reap();
        }
      }
    }
    while (lastDone < FRAGMENTS) {
      reap();
    }
    over = true;
    notifications.release();
    serving.get(90, TimeUnit.SECONDS);
    assertThat(exposed.asSlice(0, SIZE / 8).mismatch(local.asSlice(0, SIZE / 8))).isEqualTo(-1);
  }
}
