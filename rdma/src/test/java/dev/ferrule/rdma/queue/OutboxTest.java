// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.fake.ScriptedDevice.Send;
import dev.ferrule.verbs.CompletionQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Several senders of one queue. */
class OutboxTest {

  private static final int UNACKED = 4;
  private static final int LINES = 4;

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final RecordingCallbacks callbacks = new RecordingCallbacks();
  private final FakeProtocol protocol = new FakeProtocol(FakeProtocol.UNLIMITED);
  private final SendQueue queue =
      new SendQueue(
          new Channel.Parts(
              device.queuePair(77),
              completions,
              device.sendMemory(LINES * SendQueue.LINE),
              UNACKED,
              -1,
              callbacks),
          protocol);
  private final Outbox one = queue.newOutbox();
  private final Outbox other = queue.newOutbox();

  private static int reserve(Outbox outbox) {
    int line = outbox.reserve(1, 1);
    assertThat(line).isNotNegative();
    return line;
  }

  private static void post(Outbox outbox, int line) {
    outbox.stage(line, 1, 1);
    assertThat(outbox.publish()).isTrue();
  }

  private static void send(Outbox outbox) {
    post(outbox, reserve(outbox));
  }

  private void completeAll() {
    queue.isDrained(); // makes the last request signaled
    device.sent(completions, device.lastSend().id());
    assertThat(queue.isDrained()).isTrue();
  }

  @Test
  void eachSenderHasIdsOfItsOwn() {
    send(one);
    send(other);
    send(one);
    other.stage(reserve(other), 1, 1);
    assertThat(one.lastId()).isEqualTo(2);
    assertThat(one.posted()).isEqualTo(2);
    assertThat(other.lastId()).as("staged").isEqualTo(2);
    assertThat(other.posted()).isEqualTo(1);
    assertThat(one.lastNumber()).isEqualTo(3);
    assertThat(other.lastNumber()).isEqualTo(2);
    assertThat(one.isComplete(1)).isFalse();

    device.sent(completions, device.sends().get(1).id()); // the first message of each sender

    assertThat(one.isComplete(1)).isTrue();
    assertThat(other.isComplete(1)).isTrue();
    assertThat(one.isComplete(2)).isFalse();
    assertThat(other.isComplete(2)).as("staged").isFalse();
  }

  @Test
  void anIdIsCompleteWhenItsMessageIsHoweverManyFollow() {
    SplittableRandom random = new SplittableRandom(1);
    long[] lastSent = {0};
    device.onSend = send -> lastSent[0] = send.isSignaled() ? send.id() : lastSent[0];
    for (int i = 0; i < 10_000; i++) {
      Outbox outbox = random.nextInt(10) == 0 ? one : other;
      if (outbox.reserve(0, 0) == SendQueue.FULL) {
        device.sent(completions, lastSent[0]);
        continue;
      }
      outbox.stage(SendQueue.NO_LINES, 0, 0);
      outbox.publish();
      long id = 1 + random.nextLong(outbox.posted());
      if (outbox.isComplete(id)) {
        assertThat(queue.isComplete(outbox.lastNumber() - UNACKED)).isTrue();
        assertThat(outbox.isComplete(Math.max(1, id - 1))).isTrue();
      } else {
        assertThat(outbox.posted() - id).isLessThan(UNACKED);
        assertThat(queue.isComplete(outbox.lastNumber())).isFalse();
      }
    }
  }

  @Test
  void sendersShareTheSpaceAndOnlyOneThatHoldsAllOfItCannotWait() {
    for (int i = 0; i < UNACKED; i++) {
      reserve(other);
    }
    assertThat(one.reserve(1, 1)).as("the other may release it").isEqualTo(SendQueue.FULL);
    assertThat(other.reserve(1, 1)).isEqualTo(SendQueue.HELD);

    other.unreserve(0, 1);

    assertThat(other.reserve(LINES * SendQueue.LINE, LINES * SendQueue.LINE))
        .isEqualTo(SendQueue.HELD);
    assertThat(reserve(one)).isZero();
    assertThat(other.reserve(1, 1)).as("one may release it").isEqualTo(SendQueue.FULL);
  }

  @Test
  void theLimitOfClaimsIsThatOfEachSender() {
    protocol.maxClaimed = 1;
    int line = reserve(one);
    assertThat(one.reserve(1, 1)).isEqualTo(SendQueue.HELD);
    send(other);
    assertThat(one.reserve(1, 1)).as("whatever is outstanding").isEqualTo(SendQueue.HELD);
    one.stage(line, 1, 1);
    reserve(one);
  }

  @Test
  void aReleasedReservationWakesTheOthersThatWaitForSpaceOnce() {
    int first = reserve(other);
    int second = reserve(other);
    one.armForRoom();
    assertThat(callbacks.progress).hasValue(0);

    other.unreserve(first, 1);
    assertThat(callbacks.progress).hasValue(1);
    other.unreserve(second, 1);
    assertThat(callbacks.progress).as("woken threads arm again").hasValue(1);
  }

  @Test
  void aMessageWakesThoseThatWaitedWhenNothingWasOutstanding() {
    for (int i = 1; i < UNACKED; i++) {
      reserve(other);
    }
    int last = reserve(other);
    one.armForRoom();
    assertThat(one.reserve(1, 1)).isEqualTo(SendQueue.FULL);
    assertThat(device.sends()).isEmpty();

    post(other, last);

    assertThat(callbacks.progress).hasValue(1);
    one.armForRoom();
    assertThat(one.reserve(1, 1)).isEqualTo(SendQueue.FULL);
    Send emptyWrite = device.lastSend();
    assertThat(emptyWrite.isSignaled()).as("its completion wakes the thread").isTrue();
    assertThat(device.notifications).as("the first request is pending").hasValue(1);
    post(other, 0);
    assertThat(callbacks.progress).as("a completion is due").hasValue(1);
    device.sent(completions, emptyWrite.id());
    assertThat(reserve(one)).isEqualTo(last);
  }

  @Test
  void aSingleSenderWakesNoThread() {
    other.close();
    int line = reserve(one);
    one.armForRoom();
    one.unreserve(line, 1);
    send(one);
    assertThat(callbacks.progress).hasValue(0);
  }

  @Test
  void messagesAreStagedSeparately() {
    one.stage(reserve(one), 1, 1);
    other.stage(reserve(other), 1, 1);
    other.publish();
    assertThat(one.staged()).isEqualTo(1);
    assertThat(other.staged()).isZero();
    assertThat(device.sends()).hasSize(1);
    one.publish();
    assertThat(device.sends()).hasSize(2);
    completeAll();
    for (int i = 0; i < UNACKED; i++) {
      reserve(one);
    }
  }
}
