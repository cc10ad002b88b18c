// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.contract.LoggedRecords;
import dev.ferrule.posix.EventPoll;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Filter;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The event loop on which all connections depend. */
class EventLoopTest {

  private static final long PATIENCE_SECONDS = 60;

  @Test
  void aTickThatThrowsDoesNotPreventOthers() throws InterruptedException {
    List<CountDownLatch> done = Stream.generate(() -> new CountDownLatch(1)).limit(3).toList();
    try (LoggedRecords logged = LoggedRecords.of(EventLoop.class)) {
      runTicks(done);

      assertThat(logged.all())
          .isNotEmpty()
          .allMatch(record -> record.getThrown() instanceof IllegalStateException)
          .allMatch(record -> record.getMessage().equals("in ferrule-test"));
    }
  }

  @Test
  void repeatedFailuresDoNotFillTheLog() throws InterruptedException {
    List<CountDownLatch> done = Stream.generate(() -> new CountDownLatch(1)).limit(40).toList();
    try (LoggedRecords logged = LoggedRecords.of(EventLoop.class)) {
      long start = System.nanoTime();
      runTicks(done);

      int seconds = (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
      assertThat(logged.all()).hasSizeBetween(1, 2 + seconds); // one a second
    }
  }

  /** A logger throws if it lacks memory or a descriptor. */
  @Test
  void aLoggerThatThrowsDoesNotEndTheLoop() throws InterruptedException {
    Logger logger = Logger.getLogger(EventLoop.class.getName());
    Filter before = logger.getFilter();
    logger.setFilter(record -> {
      throw new OutOfMemoryError("thrown by the test");
    });
    try {
      runTicks(Stream.generate(() -> new CountDownLatch(1)).limit(3).toList());
    } finally {
      logger.setFilter(before);
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

  /** If the heap is full, the loop itself may throw, outside of the actions that it guards. */
  @Test
  void anErrorOfTheLoopItselfDoesNotEndIt() throws InterruptedException {
    try (LoggedRecords logged = LoggedRecords.of(EventLoop.class);
        EventLoop loop = new EventLoop("ferrule-test", new FailingOnce())) {
      CountDownLatch ticked = new CountDownLatch(1);
      loop.addTick(ticked::countDown);
      assertThat(ticked.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(logged.all())
          .singleElement()
          .satisfies(record -> assertThat(record.getThrown()).isInstanceOf(OutOfMemoryError.class));
    }
  }

  private static void runTicks(List<CountDownLatch> done) throws InterruptedException {
    try (EventLoop loop = new EventLoop("ferrule-test")) {
      for (CountDownLatch one : done) {
        loop.addTick(() -> {
          one.countDown();
          throw new IllegalStateException("thrown by the test");
        });
      }
      for (CountDownLatch one : done) {
        assertThat(one.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      }
    }
  }
}
