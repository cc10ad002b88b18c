// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.fake.ScriptedDevice.Send;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.MessageQueue;
import dev.ferrule.rdma.queue.Outbox;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendMemory;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A connection with its own receive buffers. */
class SendRecvChannelTest {

  private static final int NUMBER = 77;
  private static final int RECEIVES = 8;
  private static final int BATCH = RECEIVES / 4;
  private static final int ALL = RECEIVES + SendRecvChannel.CONTROL_RECEIVES;

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final CompletionQueue sendCompletions = device.completionQueue();
  private final SendMemory sendMemory = device.sendMemory(4096);
  private final ReceiveBuffers buffers = Fakes.buffers(device, ALL);
  private final RecordingCallbacks link = new RecordingCallbacks();
  private final ReceiveQueue queue =
      new ReceiveQueue(completions, buffer -> {}, CompletionQueue.BATCH);
  private Channel channel = open(false, true);
  private Outbox outbox = channel.sends().newOutbox();

  private Channel open(boolean plain, boolean credits) {
    Channel made =
        new SendRecvChannel(
            new Channel.Parts(device.queuePair(NUMBER), sendCompletions, sendMemory, 16, -1, link),
            new SendRecvChannel.Terms(plain, credits, RECEIVES, RECEIVES),
            buffers,
            null,
            buffers.view());
    queue.add(made);
    return made;
  }

  private void use(boolean plain, boolean credits) {
    queue.remove(channel);
    channel = open(plain, credits);
    outbox = channel.sends().newOutbox();
  }

  private void receive(int buffer, int immediate) {
    device.received(completions, NUMBER, buffer, 10, immediate);
    queue.poll();
  }

  /** Receives a message of a peer that has granted nothing and confirmed no control messages. */
  private void receiveMessage(int buffer) {
    receive(buffer, Immediate.of(Immediate.MESSAGE, RECEIVES, 0));
  }

  private List<Integer> received() {
    return Fakes.take(channel);
  }

  @Test
  void aMessageWaitsInTheQueueAndTheConnectionIsNotified() {
    device.received(completions, NUMBER, 3, 41, Immediate.of(Immediate.MESSAGE, RECEIVES, 0));
    assertThat(queue.poll()).isTrue();
    assertThat(link.progress).hasValue(1);
    long message = channel.messages().take();
    assertThat(MessageQueue.number(message)).isEqualTo(3);
    assertThat(MessageQueue.length(message)).isEqualTo(41);
    assertThat(link.told).isEmpty();
  }

  @Test
  void aMessageWithoutImmediateDataIsAViolation() {
    device.receivedPlain(completions, NUMBER, 0, 10);
    queue.poll();
    assertThat(link.told).singleElement().asString().contains("without immediate data");
    assertThat(received()).isEmpty();
  }

  @Test
  void inThePlainModeMessagesNeedNoImmediateDataAndNoCredit() {
    use(true, false);
    for (int buffer = 0; buffer < ALL; buffer++) {
      device.receivedPlain(completions, NUMBER, buffer, 10);
    }
    queue.poll();
    assertThat(link.told).isEmpty();
    assertThat(received()).hasSize(ALL);
  }

  @Test
  void moreMessagesThanThePeerHasCreditForAreAViolation() {
    for (int buffer = 0; buffer < RECEIVES; buffer++) {
      receiveMessage(buffer);
    }
    assertThat(link.told).isEmpty();
    receiveMessage(RECEIVES);
    assertThat(link.told).singleElement().asString().contains("more messages");
    assertThat(received()).hasSize(RECEIVES);
  }

  @Test
  void withoutCreditsMessagesMayUseAnyBuffer() {
    use(false, false);
    for (int buffer = 0; buffer < ALL; buffer++) {
      receiveMessage(buffer);
    }
    assertThat(link.told).isEmpty();
    assertThat(received()).hasSize(ALL);
  }

  @Test
  void aCreditCountThatGoesBackwardsIsAViolation() {
    receive(0, Immediate.of(Immediate.MESSAGE, RECEIVES - 1, 0));
    assertThat(link.told).singleElement().asString().contains("credit count");
    assertThat(received()).isEmpty();
  }

  @Test
  void aMessageOfAnUnknownTypeIsAViolation() {
    receive(0, Immediate.of(9, RECEIVES, 0));
    assertThat(link.told).singleElement().asString().contains("unknown type 9");
    assertThat(received()).isEmpty();
  }

  /** Sends a message, which confirms the control messages taken. */
  private void confirm() {
    assertThat(outbox.reserve(0, 0)).isGreaterThan(SendQueue.FULL);
    outbox.stage(SendQueue.NO_LINES, 0, 0);
    outbox.publish();
    outbox.isComplete(outbox.lastId());
  }

  @Test
  void controlMessagesUseNoCreditAndTheirBuffersAreRepostedAtOnce() {
    device.onSend =
        send -> {
          if (send.isSignaled()) {
            device.sent(sendCompletions, send.id());
          }
        };
    for (int i = 1; i <= 300; i++) {
      receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES + i, 0));
      assertThat(device.takeReceive()).isEqualTo(RECEIVES);
      confirm();
    }
    assertThat(link.told).isEmpty();
    assertThat(received()).isEmpty();
    for (int buffer = 0; buffer < RECEIVES; buffer++) {
      receive(buffer, Immediate.of(Immediate.MESSAGE, RECEIVES + 300, 0));
    }
    assertThat(link.told).isEmpty();
  }

  /**
   * This side sends a report after every two control messages, until three reports are unconfirmed.
   */
  @Test
  void excessControlMessagesAreAViolation() {
    int reported = 3 * Window.CONTROLS_AT_ONCE;
    for (int i = 0; i < reported + SendRecvChannel.CONTROL_RECEIVES; i++) {
      receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES, 0));
    }
    assertThat(link.told).isEmpty();
    assertThat(device.lastSend().immediate())
        .isEqualTo(Immediate.of(Immediate.GRANT, RECEIVES, reported));
    receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES, 0));
    assertThat(link.told).singleElement().asString().contains("more control messages");
  }

  @Test
  void aPeerThatHasClosedGetsNoReportOfItsControlMessages() {
    receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES, 0));
    receive(RECEIVES, Immediate.of(Immediate.GOODBYE, RECEIVES, 0));
    assertThat(channel.reports()).isZero();
  }

  @Test
  void aGrantLetsThisSideSendMoreAndIsConfirmedByTheNextMessage() {
    for (int i = 0; i < RECEIVES; i++) {
      assertThat(outbox.reserve(0, 0)).isGreaterThan(SendQueue.FULL);
      outbox.stage(SendQueue.NO_LINES, 0, 0);
    }
    outbox.publish();
    assertThat(outbox.reserve(0, 0)).isEqualTo(SendQueue.FULL);

    receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES + 1, 0));

    assertThat(link.progress).hasValue(1);
    assertThat(outbox.reserve(0, 0)).isGreaterThan(SendQueue.FULL);
    assertThat(outbox.reserve(0, 0)).isEqualTo(SendQueue.FULL);
    outbox.stage(SendQueue.NO_LINES, 0, 0);
    outbox.publish();
    assertThat(device.lastSend().immediate())
        .isEqualTo(Immediate.of(Immediate.MESSAGE, RECEIVES, 1));
  }

  /** If all were reserved, the peer might be unable to return them, as its share may shrink. */
  @Test
  void noMoreMessagesAreReservedThanThePeerHasReceivesForInAnyCase() {
    receive(RECEIVES, Immediate.of(Immediate.GRANT, 4 * RECEIVES, 0));
    for (int i = 0; i < RECEIVES; i++) {
      assertThat(outbox.reserve(0, 0)).isGreaterThan(SendQueue.FULL);
    }
    assertThat(outbox.reserve(0, 0)).isEqualTo(SendQueue.HELD);
  }

  @Test
  void aMessageGrantsAllCreditsOwed() {
    for (int buffer = 0; buffer < BATCH; buffer++) {
      receiveMessage(buffer);
      channel.free(buffer);
    }
    confirm();
    Send message = device.sends().get(0);
    assertThat(message.operation()).isEqualTo(ScriptedDevice.SEND_WITH_IMMEDIATE);
    assertThat(message.immediate()).isEqualTo(Immediate.of(Immediate.MESSAGE, RECEIVES + BATCH, 0));
  }

  @Test
  void inThePlainModeNoImmediateDataIsSentAndNoControlMessages() {
    use(true, false);
    for (int buffer = 0; buffer < ALL; buffer++) {
      device.receivedPlain(completions, NUMBER, buffer, 10);
      queue.poll();
      channel.free(buffer);
    }
    assertThat(channel.sends().controls().saysGoodbye()).isFalse();
    assertThat(channel.sends().controls().sayGoodbye()).isFalse();
    assertThat(device.sends()).isEmpty();
    confirm();
    assertThat(device.sends().get(0).operation()).isEqualTo(ScriptedDevice.SEND);
  }

  @Test
  void goodbyeIsAControlMessage() {
    assertThat(channel.sends().controls().saysGoodbye()).isTrue();
    assertThat(channel.sends().controls().sayGoodbye()).isTrue();
    assertThat(device.lastSend().immediate())
        .isEqualTo(Immediate.of(Immediate.GOODBYE, RECEIVES, 0));
    assertThat(device.lastSend().length()).isZero();
  }

  @Test
  void theEndIsAControlMessageOnceWithCreditsAndCountsAsAGrant() {
    channel.sends().controls().sendEnd();
    assertThat(device.lastSend().immediate()).isEqualTo(Immediate.of(Immediate.END, RECEIVES, 0));
    assertThat(device.lastSend().length()).isZero();
    assertThat(channel.reports()).isZero();
    for (int round = 0; round < 3; round++) {
      for (int buffer = 0; buffer < RECEIVES / 2; buffer++) {
        receiveMessage(buffer);
        channel.free(buffer);
      }
    }
    assertThat(channel.reports()).as("one fewer, as the end is not confirmed").isEqualTo(1);
    assertThat(device.lastSend().immediate() >>> 28).isEqualTo(Immediate.GRANT);
  }

  @Test
  void theEndWaitsUntilThePeerHasAReceiveForIt() {
    for (int round = 0; round < 3; round++) {
      for (int buffer = 0; buffer < RECEIVES / 2; buffer++) {
        receiveMessage(buffer);
        channel.free(buffer);
      }
    }
    assertThat(channel.reports()).isEqualTo(2);
    int before = device.sends().size();
    channel.sends().controls().sendEnd();
    assertThat(device.sends()).as("two grants are unconfirmed").hasSize(before);
    assertThat(channel.isReportBlocked()).isTrue();

    receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES, 1)); // confirms one

    assertThat(device.sends()).hasSizeGreaterThan(before);
    assertThat(device.sends().get(before).immediate() >>> 28).isEqualTo(Immediate.END);
  }

  @Test
  void theEndOfThePeersMessagesIsFoundBehindThemOnce() {
    assertThat(channel.isEnded()).isFalse();
    receive(0, Immediate.of(Immediate.MESSAGE, RECEIVES, 0));
    receive(RECEIVES, Immediate.of(Immediate.END, RECEIVES + 1, 0));
    assertThat(channel.isEnded()).isTrue();
    assertThat(received()).containsExactly(0);
    assertThat(link.told).isEmpty();

    receive(RECEIVES, Immediate.of(Immediate.END, RECEIVES + 1, 0));
    assertThat(link.told).singleElement().asString().contains("the end of its messages twice");
  }

  @Test
  void aMessageAfterTheEndIsAViolation() {
    receive(RECEIVES, Immediate.of(Immediate.END, RECEIVES, 0));
    receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES + 1, 0)); // confirms none
    assertThat(link.told).isEmpty();
    receive(0, Immediate.of(Immediate.MESSAGE, RECEIVES + 1, 0));
    assertThat(link.told).singleElement().asString().contains("after the end of its messages");
    assertThat(received()).isEmpty();
  }

  @Test
  void noMoreGrantsAreInFlightThanThePeerHasReceivesFor() {
    for (int round = 0; round < 3; round++) {
      for (int buffer = 0; buffer < RECEIVES / 2; buffer++) {
        receiveMessage(buffer);
        channel.free(buffer);
      }
    }
    assertThat(link.told).isEmpty();
    assertThat(channel.reports()).isEqualTo(2);
    receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES, 1)); // confirms one
    assertThat(channel.reports()).isEqualTo(3);
  }

  @Test
  void aFailedPostOfAControlMessagesBufferIsReported() {
    device.receiveErrno = Errno.ENOMEM;
    receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES, 0));
    assertThat(link.told).containsExactly("ibv_post_recv " + Errno.ENOMEM);
  }

  @Test
  void theGoodbyeIsReportedAfterTheMessagesBeforeIt() {
    assertThat(channel.isGoodbyeSaid()).isFalse();
    device.received(completions, NUMBER, 0, 10, Immediate.of(Immediate.MESSAGE, RECEIVES, 0));
    device.received(completions, NUMBER, 1, 0, Immediate.of(Immediate.GOODBYE, RECEIVES, 0));
    queue.poll();
    assertThat(channel.isGoodbyeSaid()).isTrue();
    assertThat(link.told).containsExactly("goodbye");
    assertThat(received()).containsExactly(0);
  }

  @Test
  void theFirstFailedReceiveIsReported() {
    device.failed(completions, NUMBER, 0, CompletionStatus.LOCAL_LENGTH_ERROR, 0x81);
    device.failed(completions, NUMBER, 1, CompletionStatus.FLUSHED, 0x82);
    queue.poll();
    assertThat(link.told).containsExactly("receive: LOCAL_LENGTH_ERROR " + 0x81);
    assertThat(received()).isEmpty();
    device.failed(completions, NUMBER, 2, CompletionStatus.FLUSHED, 0x82);
    queue.poll();
    assertThat(link.told).containsOnly("receive: LOCAL_LENGTH_ERROR " + 0x81);
  }

  @Test
  void forFlushedReceivesTheFailedSendIsReported() {
    outbox.reserve(0, 0);
    outbox.stage(SendQueue.NO_LINES, 0, 0);
    outbox.publish();
    device.failed(sendCompletions, NUMBER, 1, CompletionStatus.RETRY_EXCEEDED, 0x81);
    device.failed(completions, NUMBER, 0, CompletionStatus.FLUSHED, 0x82);
    queue.poll();
    assertThat(link.told).containsOnly("RETRY_EXCEEDED " + 0x81);
  }

  @Test
  void freedBuffersAreRepostedInBatches() {
    for (int buffer = 0; buffer < BATCH; buffer++) {
      receiveMessage(buffer);
    }
    for (int buffer = 0; buffer < BATCH - 1; buffer++) {
      channel.free(buffer);
    }
    assertThat(device.receives()).isEmpty();
    channel.free(BATCH - 1);
    assertThat(device.receivePosts).hasValue(1);
    assertThat(device.receives()).hasSize(BATCH).doesNotHaveDuplicates();
  }

  @Test
  void aFreedBufferIsRepostedAndGrantedAtOnceIfThePeerStarves() {
    for (int buffer = 0; buffer < RECEIVES; buffer++) {
      receiveMessage(buffer);
    }
    channel.free(5);
    assertThat(device.receives()).containsExactly(5);
    assertThat(device.sends())
        .extracting(Send::immediate)
        .containsExactly(Immediate.of(Immediate.GRANT, RECEIVES + 1, 0));
    assertThat(channel.reports()).isEqualTo(1);
  }

  @Test
  void buffersFreedBeforeThePeerStarvedAreRepostedByTheReceiversNextPoll() {
    for (int buffer = 0; buffer < RECEIVES - 1; buffer++) {
      receiveMessage(buffer);
    }
    channel.free(0);
    channel.releaseSpaceToBlockedPeer();
    assertThat(device.receives()).isEmpty();
    receiveMessage(RECEIVES - 1);
    channel.releaseSpaceToBlockedPeer();
    assertThat(device.receives()).containsExactly(0);
    assertThat(channel.reports()).isEqualTo(1);
    channel.releaseSpaceToBlockedPeer();
    assertThat(device.receivePosts).hasValue(1);
  }

  @Test
  void aGrantIsSentWhenHalfOfTheWindowIsOwed() {
    for (int buffer = 0; buffer < RECEIVES / 2; buffer++) {
      receiveMessage(buffer);
    }
    for (int buffer = 0; buffer < RECEIVES / 2 - BATCH; buffer++) {
      channel.free(buffer);
    }
    assertThat(device.sends()).isEmpty();
    for (int buffer = RECEIVES / 2 - BATCH; buffer < RECEIVES / 2; buffer++) {
      channel.free(buffer);
    }
    assertThat(device.sends())
        .extracting(Send::immediate)
        .containsExactly(Immediate.of(Immediate.GRANT, RECEIVES + RECEIVES / 2, 0));
    assertThat(channel.reports()).isEqualTo(1);
  }

  @Test
  void aPeerThatHasStarvedMeanwhileIsGrantedByThePollingThread() {
    for (int buffer = 0; buffer < BATCH; buffer++) {
      receiveMessage(buffer);
      channel.free(buffer);
    }
    assertThat(device.receives()).as("posted, but a grant is not due yet").hasSize(BATCH);
    assertThat(device.sends()).isEmpty();
    for (int i = BATCH; i < RECEIVES; i++) {
      receiveMessage(i);
    }
    assertThat(device.sends())
        .extracting(Send::immediate)
        .containsExactly(Immediate.of(Immediate.GRANT, RECEIVES + BATCH, 0));
  }

  @Test
  void aFailedPostOfFreedBuffersIsReported() {
    for (int buffer = 0; buffer < BATCH; buffer++) {
      receiveMessage(buffer);
    }
    device.receiveErrno = Errno.ENOMEM;
    for (int buffer = 0; buffer < BATCH; buffer++) {
      channel.free(buffer);
    }
    assertThat(link.told).containsExactly("ibv_post_recv " + Errno.ENOMEM);
  }

  @Test
  void nothingIsPostedOnceTheReceivesAreClosed() {
    for (int buffer = 0; buffer < RECEIVES; buffer++) {
      receiveMessage(buffer);
    }
    assertThat(channel.isClosed()).isFalse();
    channel.closeReceives();
    assertThat(channel.isClosed()).isTrue();
    for (int buffer = 0; buffer < RECEIVES; buffer++) {
      channel.free(buffer);
    }
    receive(RECEIVES, Immediate.of(Immediate.GRANT, RECEIVES, 0));
    assertThat(device.receivePosts).hasValue(0);
  }
}
