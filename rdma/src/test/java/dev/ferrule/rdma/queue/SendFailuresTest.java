// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.verbs.CompletionStatus;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

/** A failure is reported exactly once by several threads. */
class SendFailuresTest {

  private final SpinLock lock = new SpinLock();
  private final RecordingCallbacks callbacks = new RecordingCallbacks();
  private final SendFailures failures = new SendFailures(lock, callbacks);

  private void locked(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }

  @Test
  void aFailureIsReportedByTheNextThreadThatReports() throws Exception {
    Thread finder =
        Thread.ofPlatform()
            .start(() -> locked(() -> failures.completed(CompletionStatus.RETRY_EXCEEDED, 7)));
    finder.join();

    locked(() -> {});
    failures.report();
    failures.report();

    assertThat(callbacks.told).containsExactly("RETRY_EXCEEDED 7");
  }

  @Test
  void concurrentThreadsReportAFailureOnce() throws Exception {
    int rounds = 2_000;
    CyclicBarrier start = new CyclicBarrier(2);
    CyclicBarrier end = new CyclicBarrier(2);
    Thread other =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try {
                for (int i = 0; i < rounds; i++) {
                  start.await();
                  locked(() -> {});
                  failures.report();
                  end.await();
                }
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    for (int i = 1; i <= rounds; i++) {
      start.await();
      locked(() -> failures.posted(-Errno.ENOMEM));
      failures.report();
      end.await();
      assertThat(callbacks.told).hasSize(i);
    }
    other.join();
  }
}
