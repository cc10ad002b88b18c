// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.contract.LoggedRecords;
import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.verbs.CompletionQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The distribution of completions to connections. */
class ReceiveQueueTest {

  private static final int RECEIVES = 256;

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final CompletionQueue sendCompletions = device.completionQueue();
  private final List<Integer> strays = new ArrayList<>();
  private final ReceiveQueue queue =
      new ReceiveQueue(completions, strays::add, CompletionQueue.BATCH);
  private final RecordingCallbacks firstLink = new RecordingCallbacks();
  private final RecordingCallbacks secondLink = new RecordingCallbacks();
  private final FakeChannel first = channel(0x000077, firstLink);
  private final FakeChannel second = channel(0xfffff7, secondLink);

  private FakeChannel channel(int number, QueueCallbacks callbacks) {
    return FakeChannel.on(device, number, sendCompletions, callbacks, RECEIVES);
  }

  private void receive(Channel channel, int buffer) {
    device.received(
        completions, channel.queuePairNumber(), buffer, 10 + buffer, FakeChannel.MESSAGE);
  }

  private static List<Integer> take(MessageQueue messages) {
    List<Integer> all = new ArrayList<>();
    while (messages.hasNext()) {
      long message = messages.take();
      all.add(MessageQueue.number(message));
      assertThat(MessageQueue.length(message)).isEqualTo(10 + MessageQueue.number(message));
    }
    return all;
  }

  @Test
  void messagesAreDistributedByQueuePairNumber() {
    queue.add(first);
    queue.add(second);
    receive(second, 1);
    receive(first, 2);
    receive(second, 3);
    assertThat(queue.poll()).isTrue();
    assertThat(take(first.messages())).containsExactly(2);
    assertThat(take(second.messages())).containsExactly(1, 3);
    assertThat(strays).isEmpty();
  }

  @Test
  void aPollTakesNoMoreCompletionsThanABatch() {
    ReceiveQueue oneByOne = new ReceiveQueue(completions, strays::add, 1);
    oneByOne.add(first);
    receive(first, 1);
    receive(first, 2);
    assertThat(oneByOne.poll()).isTrue();
    assertThat(take(first.messages())).containsExactly(1);
    assertThat(oneByOne.poll()).isTrue();
    assertThat(take(first.messages())).containsExactly(2);
    receive(first, 3);
    receive(first, 4);
    oneByOne.drain();
    assertThat(take(first.messages())).containsExactly(3, 4);
  }

  @Test
  void eachConnectionIsNotifiedOncePerPollAndOnlyOfItsMessages() {
    queue.add(first);
    queue.add(second);
    receive(first, 1);
    receive(first, 2);
    queue.poll();
    assertThat(firstLink.progress).hasValue(1);
    assertThat(secondLink.progress).hasValue(0);
    receive(second, 1);
    receive(first, 3);
    queue.poll();
    assertThat(firstLink.progress).hasValue(2);
    assertThat(secondLink.progress).hasValue(1);
  }

  @Test
  void receivesOfARemovedConnectionAreStrays() {
    queue.add(first);
    queue.add(second);
    queue.remove(first);
    receive(first, 1);
    receive(second, 2);
    queue.poll();
    assertThat(strays).containsExactly(1);
    assertThat(take(first.messages())).isEmpty();
    assertThat(take(second.messages())).containsExactly(2);
  }

  @Test
  void receivesOfAnUnknownConnectionAreStrays() {
    queue.add(first);
    receive(second, 1); // of a connection that was never added
    queue.drain();
    assertThat(strays).containsExactly(1);
    assertThat(take(first.messages())).isEmpty();
  }

  @Test
  void receivesOfTheOnlyConnectionAreStraysAfterItsRemoval() {
    queue.add(first);
    queue.remove(first);
    receive(first, 1);
    queue.poll();
    assertThat(strays).containsExactly(1);
  }

  @Test
  void earlierReceivesBelongToTheOnlyConnection() {
    ReceiveQueue ofOne = ReceiveQueue.ofOne(completions, CompletionQueue.BATCH);
    receive(first, 1); // a peer may send as soon as it has accepted, before this side is connected
    ofOne.add(first);
    ofOne.poll();
    assertThat(take(first.messages())).containsExactly(1);
    assertThat(strays).isEmpty();
  }

  @Test
  void receivesOfAnEarlierConnectionWithTheSameNumberAreStrays() {
    queue.add(first);
    queue.remove(first);
    receive(first, 1);
    Channel successor = channel(first.queuePairNumber(), secondLink);
    queue.add(successor);
    queue.poll();
    assertThat(strays).containsExactly(1);
    assertThat(take(successor.messages())).isEmpty();
  }

  @Test
  void remainingReceivesAreTakenBeforeAConnectionIsRemoved() {
    queue.add(first);
    for (int buffer = 0; buffer < 2 * CompletionQueue.BATCH; buffer++) {
      receive(first, buffer);
    }
    queue.remove(first);
    assertThat(take(first.messages())).hasSize(2 * CompletionQueue.BATCH);
    assertThat(strays).isEmpty();
  }

  @Test
  void removingAConnectionKeepsANewOneWithItsNumber() {
    queue.add(first);
    Channel successor = channel(first.queuePairNumber(), secondLink);
    queue.add(successor);
    queue.remove(first);
    receive(successor, 1);
    queue.poll();
    assertThat(take(successor.messages())).containsExactly(1);
  }

  @Test
  void aPollTakesABatchAndADrainTakesAll() {
    queue.add(first);
    for (int buffer = 0; buffer < 3 * CompletionQueue.BATCH; buffer++) {
      receive(first, buffer);
    }
    queue.poll();
    assertThat(take(first.messages())).hasSize(CompletionQueue.BATCH);
    queue.drain();
    assertThat(take(first.messages())).hasSize(2 * CompletionQueue.BATCH);
    assertThat(queue.poll()).isFalse();
  }

  @Test
  void anEventWakesOnlyTheConnectionsWithMessages() {
    queue.add(first);
    queue.add(second);
    receive(first, 1);
    queue.onEvent();
    assertThat(take(first.messages())).containsExactly(1);
    assertThat(firstLink.progress).hasValue(1);
    assertThat(secondLink.progress).hasValue(0);
  }

  @Test
  void armingDrainsTheQueue() {
    queue.add(first);
    queue.add(second);
    for (int buffer = 0; buffer < CompletionQueue.BATCH; buffer++) {
      receive(first, buffer);
    }
    receive(second, CompletionQueue.BATCH);
    queue.arm(); // causes no event for them
    assertThat(take(second.messages())).containsExactly(CompletionQueue.BATCH);
    assertThat(secondLink.progress).hasValue(1);
  }

  @Test
  void oneRequestSufficesForAllSleepersAndIsRepeatedWhileOneSleeps() {
    queue.add(first);
    queue.add(second);
    queue.arm(); // the receiver of the first connection
    queue.arm(); // that of the second
    assertThat(device.notifications).hasValue(1);
    queue.onEvent();
    assertThat(device.notifications).hasValue(2);
    queue.disarm();
    queue.onEvent();
    assertThat(device.notifications).hasValue(3);
    queue.disarm();
    queue.onEvent();
    assertThat(device.notifications).hasValue(3);
    queue.arm();
    assertThat(device.notifications).hasValue(4);
  }

  @Test
  void aFailedRequestIsReportedToAllConnectionsAndRepeated() {
    queue.add(first);
    queue.add(second);
    device.onNotificationRequest =
        () -> {
          throw new IllegalStateException("thrown by the test");
        };
    assertThatThrownBy(queue::arm).hasMessage("thrown by the test");
    device.notificationErrno = Errno.EIO;
    queue.arm();
    device.notificationErrno = 0;
    for (RecordingCallbacks link : List.of(firstLink, secondLink)) {
      assertThat(link.told).containsExactly("ibv_req_notify_cq " + Errno.EIO);
    }
    assertThat(device.notifications).hasValue(2);
    queue.arm();
    assertThat(device.notifications).hasValue(3);
    queue.arm();
    assertThat(device.notifications).hasValue(3);
  }

  @Test
  void anEventOfTheOnlyConnectionWakesItAndEndsTheRequest() {
    ReceiveQueue ofOne = ReceiveQueue.ofOne(completions, CompletionQueue.BATCH);
    ofOne.add(first);
    ofOne.arm(); // by its receiver
    ofOne.arm(); // by its sender, which waits for credit
    assertThat(device.notifications).hasValue(1);
    ofOne.onEvent();
    assertThat(firstLink.progress).hasValue(1);
    assertThat(device.notifications).hasValue(1);
    ofOne.disarm();
    ofOne.arm();
    assertThat(device.notifications).hasValue(2);
  }

  @Test
  void completionsBeforeTheNextRequestAreTaken() {
    queue.add(first);
    queue.add(second);
    queue.arm();
    device.onNotificationRequest = () -> receive(second, 2); // causes no event
    receive(first, 1);
    queue.onEvent();
    assertThat(take(first.messages())).containsExactly(1);
    assertThat(take(second.messages())).containsExactly(2);
    assertThat(secondLink.progress).hasValue(1);
  }

  @Test
  void anExceptionOfOneConnectionDoesNotAffectOthers() {
    AtomicBoolean broken = new AtomicBoolean(true);
    RecordingCallbacks throwing =
        new RecordingCallbacks() {
          @Override
          public void onProgress() {
            if (broken.get()) {
              throw new IllegalStateException("thrown by the test");
            }
            super.onProgress();
          }
        };
    Channel third = channel(0x000123, throwing);
    queue.add(first);
    queue.add(second);
    queue.add(third);
    receive(first, 1);
    receive(third, 2);
    receive(second, 3);

    try (LoggedRecords logged = LoggedRecords.of(ReceiveQueue.class)) {
      assertThat(queue.poll()).isTrue();
      assertThat(logged.all())
          .singleElement()
          .satisfies(record -> assertThat(record.getThrown()).hasMessage("thrown by the test"));
    }

    assertThat(firstLink.progress).hasValue(1);
    assertThat(secondLink.progress).hasValue(1);
    broken.set(false);
    receive(first, 4);
    receive(third, 5);
    queue.poll();
    assertThat(firstLink.progress).hasValue(2);
    assertThat(throwing.progress).hasValue(1);
    assertThat(take(third.messages())).containsExactly(2, 5);
  }

  @Test
  void aClosedQueueIsNeitherPolledNorArmed() {
    queue.add(first);
    queue.arm();
    assertThat(device.notifications).hasValue(1);
    receive(first, 1);
    queue.onEvent();
    assertThat(device.notifications).hasValue(2);
    int polls = device.polls.get();
    queue.close();
    assertThat(queue.poll()).isFalse();
    queue.drain();
    queue.arm();
    queue.onEvent();
    assertThat(device.polls).hasValue(polls);
    assertThat(device.notifications).hasValue(2);
  }
}
