// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.verbs.CompletionStatus;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

/** Several threads report a failure exactly once. */
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
            .start(
                () -> locked(() -> failures.completed(CompletionStatus.RETRY_EXCEEDED, 7, false)));
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

  /** The thread whose post failed throws the reason, so it must end the connection first. */
  @Test
  void aSenderReportsItsFailedPostAlthoughAnotherThreadIsAboutToReportAllFailures()
      throws ReflectiveOperationException {
    ScriptedDevice device = new ScriptedDevice();
    SendQueue queue =
        new SendQueue(
            new Channel.Parts(
                device.queuePair(77),
                device.completionQueue(),
                device.sendMemory(SendQueue.LINE),
                4,
                8,
                callbacks),
            new FakeProtocol(4));
    Field failuresOfQueue = SendQueue.class.getDeclaredField("failures");
    failuresOfQueue.setAccessible(true);
    failuresOfQueue.set(queue, new SendFailures(lock, new RecordingCallbacks()));
    Outbox outbox = queue.newOutbox();
    device.sendErrno = Errno.ENOMEM;

    assertThat(outbox.trySend(MemorySegment.ofArray(new byte[8]), 0, 8))
        .isEqualTo(SendQueue.FAILED);
    assertThat(callbacks.told).containsExactly("ibv_post_send " + Errno.ENOMEM);

    outbox.stage(outbox.reserve(9, 9), 9, 9);
    assertThat(outbox.publish()).isFalse();
    assertThat(callbacks.told).hasSize(2);
  }
}
