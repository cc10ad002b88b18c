// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The handling of completions that is common to all protocols. */
class ChannelTest {

  private static final int NUMBER = 77;
  private static final int CAPACITY = 8;
  private static final int THREADS = 4;
  private static final int ROUNDS = 20_000;

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final CompletionQueue sendCompletions = device.completionQueue();
  private final RecordingCallbacks callbacks = new RecordingCallbacks();
  private final FakeChannel channel =
      FakeChannel.on(device, NUMBER, sendCompletions, callbacks, CAPACITY);
  private final ReceiveQueue queue =
      new ReceiveQueue(completions, receive -> {}, CompletionQueue.BATCH);

  private void receive(int receive, int kind) {
    queue.add(channel);
    device.received(completions, NUMBER, receive, 10, kind);
    queue.poll();
  }

  @Test
  void aMessageWaitsInTheQueueAndIsProgress() {
    receive(3, FakeChannel.MESSAGE);
    assertThat(channel.messages().hasNext()).isTrue();
    assertThat(MessageQueue.number(channel.messages().take())).isEqualTo(3);
    assertThat(callbacks.progress).hasValue(1);
    assertThat(callbacks.told).isEmpty();
    assertThat(channel.dropped).isEmpty();
  }

  @Test
  void aViolationIsReportedAndItsReceiveDropped() {
    receive(3, 9);
    assertThat(callbacks.told).containsExactly("unknown kind");
    assertThat(channel.dropped).containsExactly(3);
    assertThat(channel.messages().hasNext()).isFalse();
  }

  @Test
  void anExceptionOfTheProtocolEndsOnlyItsConnection() {
    FakeChannel other =
        FakeChannel.on(device, 78, sendCompletions, new RecordingCallbacks(), CAPACITY);
    queue.add(other);
    queue.add(channel);
    device.received(completions, NUMBER, 3, 10, FakeChannel.FAULT);
    device.received(completions, 78, 4, 10, FakeChannel.MESSAGE);
    queue.poll();
    assertThat(callbacks.told).singleElement().asString().contains("thrown by the test");
    assertThat(channel.dropped).containsExactly(3);
    assertThat(other.messages().hasNext()).isTrue();
  }

  @Test
  void receivesBehindAViolationAreDropped() {
    queue.add(channel);
    device.received(completions, NUMBER, 1, 10, FakeChannel.MESSAGE);
    device.received(completions, NUMBER, 2, 10, FakeChannel.FAULT);
    device.received(completions, NUMBER, 3, 10, FakeChannel.MESSAGE);
    queue.poll();
    assertThat(MessageQueue.number(channel.messages().take())).isEqualTo(1);
    assertThat(channel.messages().hasNext()).isFalse();
    assertThat(channel.dropped).containsExactly(2, 3);
    assertThat(callbacks.told).singleElement().asString().contains("thrown by the test");
  }

  @Test
  void failedReceivesAreDroppedAndTheFirstIsReported() {
    queue.add(channel);
    device.failed(completions, NUMBER, 0, CompletionStatus.LOCAL_LENGTH_ERROR, 0x81);
    device.failed(completions, NUMBER, 1, CompletionStatus.FLUSHED, 0x82);
    queue.poll();
    assertThat(callbacks.told).containsExactly("receive: LOCAL_LENGTH_ERROR " + 0x81);
    assertThat(channel.dropped).containsExactly(0, 1);
  }

  @Test
  void aFlushedReceiveOfAnUnknownCauseIsReported() {
    queue.add(channel);
    device.failed(completions, NUMBER, 0, CompletionStatus.FLUSHED, 0x82);
    queue.poll();
    assertThat(callbacks.told).containsExactly("receive: FLUSHED " + 0x82);
  }

  /** The thread that has polled the failed send has not reported it yet. */
  @Test
  void theCauseOfAFlushedReceiveIsReportedAlthoughAnotherThreadHasPolledIt() {
    RecordingCallbacks slow =
        new RecordingCallbacks() {
          @Override
          public void onSendFailure(CompletionStatus status, int vendorError) {
            queue.poll();
            super.onSendFailure(status, vendorError);
          }
        };
    FakeChannel failing = FakeChannel.on(device, NUMBER, sendCompletions, slow, CAPACITY);
    queue.add(failing);
    device.failed(sendCompletions, NUMBER, 1, CompletionStatus.RETRY_EXCEEDED, 0x81);
    device.failed(completions, NUMBER, 0, CompletionStatus.FLUSHED, 0x82);

    failing.sends().pollAndReport();

    assertThat(slow.told).hasSize(2).containsOnly("RETRY_EXCEEDED " + 0x81);
  }

  @Test
  void aFailureToPostAReceiveIsReported() {
    channel.postResult = -Errno.ENOMEM;
    receive(0, FakeChannel.REPORT);
    assertThat(callbacks.told).containsExactly("ibv_post_recv " + Errno.ENOMEM);
  }

  @Test
  void aGoodbyeIsReported() {
    assertThat(channel.isGoodbyeSaid()).isFalse();
    receive(0, FakeChannel.GOODBYE);
    assertThat(channel.isGoodbyeSaid()).isTrue();
    assertThat(callbacks.told).containsExactly("goodbye");
  }

  @Test
  void reportsOfAllThreadsAreCounted() throws Exception {
    device.onSend = send -> device.sent(sendCompletions, send.id());
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        running.add(threads.submit(this::report));
      }
      for (Future<?> thread : running) {
        thread.get(1, TimeUnit.MINUTES);
      }
    } finally {
      threads.shutdown();
    }
    assertThat(channel.reports()).isEqualTo(device.sendPosts.get());
  }

  private void report() {
    for (int i = 0; i < ROUNDS; i++) {
      channel.protocol().reportDue = true;
      channel.reportIfDue();
    }
  }
}
