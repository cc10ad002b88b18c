// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArenaCloserTest {

  private static final long PATIENCE_SECONDS = 60;
  private static final Logger LOGGER = Logger.getLogger(ArenaCloser.class.getName());

  @BeforeAll
  static void logNothing() {
    LOGGER.setFilter(record -> false);
  }

  @AfterAll
  static void logAgain() {
    LOGGER.setFilter(null);
  }

  @Test
  void memoryInUseIsReleasedLater() throws InterruptedException {
    CountDownLatch unused = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);

    ArenaCloser.whenUnused(() -> unused.getCount() > 0, released::countDown);

    assertThat(released.getCount()).isEqualTo(1);
    unused.countDown();
    assertThat(released.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(classes = {OutOfMemoryError.class, AssertionError.class, RuntimeException.class})
  void aFailureToReleaseMemoryDoesNotPreventOthers(Class<? extends Throwable> failure)
      throws InterruptedException {
    AtomicInteger looks = new AtomicInteger();
    CountDownLatch released = new CountDownLatch(1);

    ArenaCloser.whenUnused(
        () -> {
          if (looks.incrementAndGet() == 2) { // on the daemon thread
            throw thrownByTheTest(failure);
          }
          return looks.get() < 2;
        },
        () -> {});
    CountDownLatch failed = new CountDownLatch(1);
    ArenaCloser.whenUnused(
        () -> {
          if (looks.get() >= 2) {
            failed.countDown();
          }
          return failed.getCount() > 0;
        },
        released::countDown);

    assertThat(released.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aReleaseThatLackedMemoryIsRepeated() throws InterruptedException {
    AtomicInteger looks = new AtomicInteger();
    CountDownLatch released = new CountDownLatch(1);

    ArenaCloser.whenUnused(
        () -> {
          if (looks.incrementAndGet() == 2) {
            throw new OutOfMemoryError("thrown by the test");
          }
          return looks.get() < 2;
        },
        released::countDown);

    assertThat(released.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  private static Error thrownByTheTest(Class<? extends Throwable> kind) {
    if (kind == RuntimeException.class) {
      throw new IllegalStateException("thrown by the test");
    }
    return kind == OutOfMemoryError.class
        ? new OutOfMemoryError("thrown by the test")
        : new AssertionError("thrown by the test");
  }
}
