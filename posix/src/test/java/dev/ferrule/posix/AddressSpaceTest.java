// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * A garbage collection delays all threads of a process, and peers can provoke a lack of address
 * space as often as they wish.
 */
class AddressSpaceTest {

  private static final long LIMIT = 1000;

  private long nanos;
  private int collections;
  private long collectable;
  private final AddressSpace space =
      new AddressSpace(
          () -> {
            collections++;
            remove();
          },
          () -> nanos);

  /** Removes the memory that waits, as the garbage collector does. */
  private void remove() {
    space.remove(collectable, true);
    collectable = 0;
  }

  private void add(long size) {
    space.add(size, LIMIT, size + " bytes");
  }

  private void closeConnection(long size) {
    space.await(size);
    collectable += size;
  }

  private void assertNoRoomFor(long size) {
    assertThatThrownBy(() -> add(size)).isInstanceOf(PosixException.class);
  }

  @Test
  void memoryThatWaitsIsCollectedIfThereIsNoRoomOtherwise() {
    add(LIMIT);
    closeConnection(LIMIT);
    assertThatCode(() -> add(LIMIT)).doesNotThrowAnyException();
    assertThat(collections).isEqualTo(1);
  }

  @Test
  void aLackOfRoomThatNoCollectionEndsCausesNoCollection() {
    assertNoRoomFor(LIMIT + 1);
    add(LIMIT);
    assertNoRoomFor(1);
    closeConnection(LIMIT / 2);
    assertNoRoomFor(LIMIT / 2 + 1);
    assertThat(collections).isZero();
  }

  @Test
  void thereIsOneCollectionASecondWhateverPeersAskFor() {
    for (int i = 0; i < 50; i++) {
      add(LIMIT - 10);
      closeConnection(LIMIT - 10);
      nanos += 100_000_000;
      try {
        add(LIMIT); // fails nine times of ten, and finds a new connection's memory each time
        space.remove(LIMIT, false);
      } catch (PosixException e) {
        remove(); // as if by chance
      }
    }
    assertThat(collections).isEqualTo(5);
  }

  @Test
  void theLimitOfTheKernelCausesNoCollectionIfNothingWaits() {
    assertThat(space.makeRoom()).isFalse();
    add(10);
    closeConnection(10);
    assertThat(space.makeRoom()).isTrue();
    add(10);
    closeConnection(10);
    assertThat(space.makeRoom()).isFalse();
    nanos += 1_000_000_000;
    assertThat(space.makeRoom()).isTrue();
  }

  @Test
  void aThreadThatLacksRoomWhileAnotherCollectsWaitsForIt() throws Exception {
    CountDownLatch collecting = new CountDownLatch(1);
    CountDownLatch second = new CountDownLatch(1);
    AddressSpace[] shared = new AddressSpace[1];
    shared[0] =
        new AddressSpace(
            () -> {
              collecting.countDown();
              try {
                second.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              shared[0].remove(LIMIT, true);
            },
            () -> 0);
    shared[0].add(LIMIT, LIMIT, "");
    shared[0].await(LIMIT);
    CompletableFuture<Void> one =
        CompletableFuture.runAsync(() -> shared[0].add(LIMIT / 2, LIMIT, ""));
    collecting.await();
    Thread other = Thread.ofPlatform().unstarted(() -> shared[0].add(LIMIT / 2, LIMIT, ""));
    AtomicReference<Throwable> failure = new AtomicReference<>();
    other.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));
    other.start();
    while (other.getState() != Thread.State.BLOCKED) {
      Thread.onSpinWait();
    }
    second.countDown();
    one.get();
    other.join();
    assertThat(failure.get()).isNull();
    assertThat(shared[0].mapped()).isEqualTo(LIMIT);
  }

  @Test
  void whatWasRefusedIsNotCounted() {
    add(LIMIT - 10);
    for (int i = 0; i < 3; i++) {
      assertNoRoomFor(11);
    }
    assertThatCode(() -> add(10)).doesNotThrowAnyException();
  }
}
