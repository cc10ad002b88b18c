// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.fake.ScriptedDevice.Send;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The send queue of a connection on a fake device. */
class SendQueueTest {

  private static final int UNACKED = 16;
  private static final int SIGNAL_INTERVAL = UNACKED / 4;
  private static final int LINES = 64;
  private static final int PLENTY = 1000;
  private static final int LONG_MESSAGE = 256 << 10;

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final SendMemory memory = device.sendMemory(LINES * SendQueue.LINE);
  private final RecordingCallbacks callbacks = new RecordingCallbacks();
  private FakeProtocol protocol = new FakeProtocol(PLENTY);
  private SendQueue queue = queue(-1);
  private Outbox outbox = queue.newOutbox();

  private SendQueue queue(int inline) {
    return queue(UNACKED, inline, callbacks);
  }

  private SendQueue queue(int unacked, int inline, QueueCallbacks callbacks) {
    return new SendQueue(
        new Channel.Parts(device.queuePair(77), completions, memory, unacked, inline, callbacks),
        protocol);
  }

  private void use(SendQueue one) {
    queue = one;
    outbox = one.newOutbox();
  }

  private void useCredits(int credits) {
    protocol = new FakeProtocol(credits);
    use(queue(-1));
  }

  private void send(int count) {
    for (int i = 0; i < count; i++) {
      int line = outbox.reserve(1, 1);
      assertThat(line).isGreaterThan(SendQueue.FULL);
      outbox.stage(line, 1, 1);
      assertThat(outbox.publish()).isTrue();
    }
  }

  /** Posts the maximum number of empty WRITEs. */
  private void postAllEmptyWrites() {
    for (int i = 0; i < ControlMessages.SENDS; i++) {
      send(1);
      assertThat(queue.isComplete(outbox.lastId())).isFalse();
    }
  }

  private boolean sendsReport() {
    long before = queue.controls().reports();
    queue.controls().sendReport();
    return queue.controls().reports() > before;
  }

  private long posted(int operation) {
    return device.sends().stream().filter(send -> send.operation() == operation).count();
  }

  @Test
  void aMessageWithoutCreditFindsTheQueueFull() {
    useCredits(3);
    send(3);
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL);

    protocol.grant();

    send(1);
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL);
  }

  @Test
  void withUnlimitedCreditsOnlyAcknowledgmentsLimitMessages() {
    useCredits(FakeProtocol.UNLIMITED);
    send(UNACKED);
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL);
  }

  @Test
  void unacknowledgedMessagesAreLimited() {
    send(UNACKED);
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL);

    device.sent(completions, SIGNAL_INTERVAL);

    send(SIGNAL_INTERVAL);
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL);
  }

  @Test
  void aReservationHoldsItsSpaceUntilItIsReleased() {
    int line = outbox.reserve(1, 1);
    for (int i = 1; i < UNACKED; i++) {
      assertThat(outbox.reserve(1, 1)).isGreaterThan(SendQueue.FULL);
    }
    assertThat(outbox.reserve(1, 1)).as("the peer cannot free any").isEqualTo(SendQueue.HELD);

    outbox.unreserve(line, 1);

    assertThat(outbox.reserve(1, 1)).isEqualTo(line);
  }

  @Test
  void claimsAreLimitedSeparatelyAndStagedMessagesAreNoClaims() {
    protocol.maxClaimed = 2;
    for (int i = 0; i < 5; i++) {
      assertThat(outbox.reserve(1, 1)).isEqualTo(i);
      outbox.stage(i, 1, 1);
    }
    assertThat(outbox.reserve(1, 1)).isEqualTo(5);
    assertThat(outbox.reserve(1, 1)).isEqualTo(6);
    assertThat(outbox.reserve(1, 1)).as("the peer cannot help").isEqualTo(SendQueue.HELD);

    outbox.unreserve(6, 1);

    assertThat(outbox.reserve(1, 1)).isEqualTo(6);
  }

  @Test
  void aReservationTakesCredit() {
    useCredits(2);
    assertThat(outbox.reserve(1, 1)).isNotNegative();
    assertThat(outbox.reserve(1, 1)).isNotNegative();
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.HELD);
  }

  @Test
  void aMessageFindsTheQueueFullUntilMemoryIsFree() {
    int all = LINES * SendQueue.LINE;
    int line = outbox.reserve(all - 1, all - 1);
    assertThat(line).isZero();
    outbox.stage(line, all - 1, all - 1);
    outbox.publish();
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL);
    assertThat(outbox.reserve(0, 0)).isEqualTo(SendQueue.NO_LINES);
    assertThat(outbox.reserve(1, 0)).isEqualTo(SendQueue.NO_LINES);

    assertThat(device.lastSend().operation())
        .as("an unsignaled message is followed by a signaled WRITE")
        .isEqualTo(ScriptedDevice.RDMA_WRITE);
    device.sent(completions, device.lastSend().id());

    assertThat(outbox.reserve(all, all)).isZero();
  }

  @Test
  void onlyEveryNthMessageIsSignaledAndOneCompletionRetiresAllBeforeIt() {
    useCredits(FakeProtocol.UNLIMITED);
    send(2 * SIGNAL_INTERVAL);
    assertThat(device.sends())
        .filteredOn(Send::isSignaled)
        .extracting(Send::id)
        .containsExactly((long) SIGNAL_INTERVAL, 2L * SIGNAL_INTERVAL);

    device.sent(completions, 2 * SIGNAL_INTERVAL);

    for (int id = 1; id <= 2 * SIGNAL_INTERVAL; id++) {
      assertThat(queue.isComplete(id)).isTrue();
    }
    assertThat(outbox.reserve(LINES * SendQueue.LINE, LINES * SendQueue.LINE))
        .as("memory")
        .isZero();
  }

  @Test
  void awaitingAnUnsignaledMessagePostsAnEmptyWrite() {
    send(SIGNAL_INTERVAL + 1);
    device.sent(completions, SIGNAL_INTERVAL);
    long last = outbox.lastId();

    assertThat(queue.isComplete(last)).isFalse();

    Send emptyWrite = device.lastSend();
    assertThat(emptyWrite.operation()).isEqualTo(ScriptedDevice.RDMA_WRITE);
    assertThat(emptyWrite.length()).isZero();
    assertThat(emptyWrite.isSignaled()).isTrue();

    assertThat(queue.isComplete(last)).isFalse();
    assertThat(posted(ScriptedDevice.RDMA_WRITE)).as("one is enough").isEqualTo(1);

    device.sent(completions, emptyWrite.id());
    assertThat(queue.isComplete(last)).isTrue();
  }

  @Test
  void awaitingAMessageBeforeASignaledOnePostsNothing() {
    send(SIGNAL_INTERVAL);
    assertThat(queue.isComplete(SIGNAL_INTERVAL - 1)).isFalse();
    assertThat(device.sends()).hasSize(SIGNAL_INTERVAL);
  }

  @Test
  void eachLongMessageIsSignaled() {
    for (int i = 0; i < 2; i++) {
      assertThat(outbox.reserve(LONG_MESSAGE, 0)).isEqualTo(SendQueue.NO_LINES);
      outbox.stageGather(SendQueue.NO_LINES, 0, 0x10000L, LONG_MESSAGE, 9);
    }
    assertThat(outbox.reserve(LONG_MESSAGE - 1, 0)).isEqualTo(SendQueue.NO_LINES);
    outbox.stageGather(SendQueue.NO_LINES, 0, 0x10000L, LONG_MESSAGE - 1, 9);
    outbox.publish();

    assertThat(device.sends()).extracting(Send::isSignaled).containsExactly(true, true, false);
    assertThat(device.sends()).extracting(Send::key).containsOnly(9);
    assertThat(device.sends()).extracting(Send::address).containsOnly(0x10000L);
  }

  @Test
  void stagedMessagesArePostedTogetherFromTheirPlace() {
    int first = outbox.reserve(100, 100);
    int second = outbox.reserve(7, 7);
    outbox.stage(first, 100, 100);
    outbox.stage(second, 7, 7);
    assertThat(device.sends()).isEmpty();

    assertThat(outbox.publish()).isTrue();

    assertThat(device.sendPosts).hasValue(1);
    assertThat(device.sends()).extracting(Send::length).containsExactly(100, 7);
    assertThat(device.sends())
        .extracting(Send::address)
        .containsExactly(
            memory.messages().address(), memory.messages().address() + 2 * SendQueue.LINE);
    assertThat(device.sends()).extracting(Send::key).containsOnly(memory.localKey());
    assertThat(outbox.publish()).as("nothing").isTrue();
    assertThat(device.sendPosts).hasValue(1);
  }

  @Test
  void stagedMessagesAreLimitedByTheChain() {
    Outbox wide = queue(4 * SendQueue.MAX_CHAIN, -1, callbacks).newOutbox();
    for (int i = 1; i <= SendQueue.MAX_CHAIN; i++) {
      assertThat(wide.reserve(0, 0)).isEqualTo(SendQueue.NO_LINES);
      assertThat(wide.stage(SendQueue.NO_LINES, 0, 0)).isEqualTo(i < SendQueue.MAX_CHAIN);
    }
    wide.publish();
    assertThat(wide.staged()).isZero();
    assertThat(wide.lastId()).isEqualTo(SendQueue.MAX_CHAIN);
    assertThat(device.sends()).hasSize(SendQueue.MAX_CHAIN);
  }

  @Test
  void messagesAreInlineUpToTheLimit() {
    use(queue(8));
    for (int length = 7; length < 10; length++) {
      outbox.stage(outbox.reserve(length, length), length, length);
    }
    outbox.publish();
    assertThat(device.sends()).extracting(Send::isInline).containsExactly(true, true, false);
  }

  @Test
  void withoutInliningEvenAnEmptyMessageIsNotInline() {
    outbox.stage(outbox.reserve(0, 0), 0, 0);
    outbox.publish();
    assertThat(device.lastSend().isInline()).isFalse();
  }

  @Test
  void aProtocolWithoutGoodbyeSendsNone() {
    protocol.saysGoodbye = false;
    assertThat(queue.controls().saysGoodbye()).isFalse();
    assertThat(queue.controls().sayGoodbye()).isFalse();
    assertThat(device.sends()).isEmpty();
  }

  @Test
  void aProtocolWithoutGoodbyeAnnouncesNoEnd() {
    protocol.saysGoodbye = false;
    queue.controls().sendEnd();
    queue.controls().sendPendingReport();
    assertThat(device.sends()).isEmpty();
  }

  @Test
  void theEndIsSentOnceAsSoonAsThePeerIsReady() {
    protocol.mayReport = false;
    queue.controls().sendEnd();
    assertThat(device.sends()).isEmpty();
    assertThat(queue.controls().isReportBlocked()).isTrue();
    protocol.mayReport = true;
    queue.controls().sendPendingReport();
    assertThat(device.lastSend().immediate()).isEqualTo(FakeProtocol.END);
    queue.controls().sendPendingReport();
    assertThat(sendsReport()).isFalse();
    assertThat(device.sends()).hasSize(1);
    assertThat(queue.controls().reports()).isZero();
  }

  @Test
  void theEndIsLeftOutAfterAGoodbye() {
    protocol.mayReport = false;
    queue.controls().sendEnd();
    assertThat(queue.controls().sayGoodbye()).isTrue();
    protocol.mayReport = true;
    queue.controls().sendPendingReport();
    assertThat(device.lastSend().immediate()).isEqualTo(FakeProtocol.GOODBYE);
    assertThat(device.sends()).hasSize(1);
    assertThat(queue.controls().isReportBlocked()).isFalse();
  }

  @Test
  void aReportIsASeparateMessage() {
    assertThat(sendsReport()).as("nothing is due").isFalse();
    protocol.reportDue = true;
    assertThat(sendsReport()).isTrue();
    Send report = device.lastSend();
    assertThat(report.operation()).isEqualTo(ScriptedDevice.SEND_WITH_IMMEDIATE);
    assertThat(report.length()).isZero();
    assertThat(report.immediate()).isEqualTo(FakeProtocol.REPORT);
    assertThat(sendsReport()).as("nothing is left to report").isFalse();
  }

  @Test
  void reportsAndGoodbyeHaveReservedSpace() {
    postAllEmptyWrites();
    assertThat(posted(ScriptedDevice.RDMA_WRITE)).isEqualTo(ControlMessages.SENDS / 2);

    for (int i = 0; i < 2; i++) {
      protocol.reportDue = true;
      assertThat(sendsReport()).isTrue();
    }
    protocol.reportDue = true;
    protocol.mayReport = false;
    assertThat(sendsReport()).as("the peer is not ready").isFalse();
    assertThat(queue.controls().sayGoodbye()).isTrue();
    assertThat(device.lastSend().immediate()).isEqualTo(FakeProtocol.GOODBYE);
  }

  @Test
  void aSenderWithoutSpaceSendsTheReportThatIsDue() {
    useCredits(0);
    protocol.reportDue = true;
    assertThat(outbox.reserve(1, 1)).isLessThanOrEqualTo(SendQueue.FULL);
    assertThat(queue.controls().reports()).isEqualTo(1);
  }

  @Test
  void noReportFollowsTheGoodbye() {
    assertThat(queue.controls().sayGoodbye()).isTrue();
    protocol.reportDue = true;
    assertThat(outbox.reserve(1, 1)).isGreaterThan(SendQueue.FULL);
    assertThat(sendsReport()).isFalse();
    queue.controls().sendPendingReport();
    assertThat(queue.controls().isReportBlocked()).isFalse();
    assertThat(device.lastSend().immediate()).isEqualTo(FakeProtocol.GOODBYE);
  }

  @Test
  void aPeerThatHasSaidGoodbyeGetsNoReport() {
    useCredits(0);
    queue.controls().stopReports();
    protocol.reportDue = true;
    protocol.mayReport = false;
    assertThat(queue.controls().isReportBlocked()).isFalse();
    protocol.mayReport = true;
    assertThat(outbox.reserve(1, 1)).isLessThanOrEqualTo(SendQueue.FULL);
    queue.controls().sendPendingReport();
    assertThat(device.sends()).isEmpty();
  }

  @Test
  void aReportIsBlockedIfThePeerIsNotReadyForIt() {
    protocol.mayReport = false;
    assertThat(queue.controls().isReportBlocked()).as("there is none").isFalse();
    protocol.reportDue = true;
    assertThat(queue.controls().isReportBlocked()).isTrue();
    protocol.mayReport = true;
    assertThat(queue.controls().isReportBlocked()).as("the peer is ready").isFalse();
  }

  @Test
  void outstandingControlMessagesAreLimited() {
    postAllEmptyWrites();
    for (int i = 0; i < 4; i++) {
      protocol.reportDue = true;
      assertThat(sendsReport()).isTrue();
    }
    protocol.reportDue = true;
    int before = device.sends().size();
    assertThat(sendsReport()).isFalse();
    assertThat(queue.controls().sayGoodbye()).isFalse();
    assertThat(device.sends()).hasSize(before);

    device.sent(completions, device.lastSend().id());

    assertThat(sendsReport()).isTrue();
    assertThat(queue.controls().sayGoodbye()).isTrue();
  }

  @Test
  void emptyWritesArePostedAgainWhenSpaceIsFree() {
    postAllEmptyWrites();
    long last = outbox.lastId();
    assertThat(device.lastSend().operation()).isEqualTo(ScriptedDevice.SEND_WITH_IMMEDIATE);
    long emptyWrite =
        device.sends().stream()
            .filter(send -> send.operation() == ScriptedDevice.RDMA_WRITE)
            .findFirst()
            .orElseThrow()
            .id();

    device.sent(completions, emptyWrite);

    assertThat(queue.isComplete(last)).isFalse();
    assertThat(device.lastSend().isSignaled()).isTrue();
    device.sent(completions, device.lastSend().id());
    assertThat(queue.isComplete(last)).isTrue();
  }

  @Test
  void aFailedPostIsReportedOnce() {
    device.sendErrno = Errno.ENOMEM;
    outbox.stage(outbox.reserve(1, 1), 1, 1);
    assertThat(outbox.publish()).isFalse();
    device.sendErrno = 0;
    queue.pollAndReport();
    queue.probe();
    assertThat(callbacks.told).containsExactly("ibv_post_send " + Errno.ENOMEM);
  }

  @Test
  void aFailureToPostAReportOrAnEmptyWriteIsReported() {
    device.sendErrno = Errno.ENOMEM;
    protocol.reportDue = true;
    queue.controls().sendReport();
    assertThat(callbacks.told).hasSize(1);
    device.sendErrno = 0;
    send(1);
    device.sendErrno = Errno.ENOMEM;
    queue.isComplete(1);
    assertThat(callbacks.told).hasSize(2);
  }

  @Test
  void aFailedCompletionIsReportedOnceAndLaterFlushedOnesAreNot() {
    send(3);
    device.failed(completions, 77, 1, CompletionStatus.RETRY_EXCEEDED, 0x81);
    device.failed(completions, 77, 2, CompletionStatus.FLUSHED, 0x82);
    queue.pollAndReport();
    device.failed(completions, 77, 3, CompletionStatus.FLUSHED, 0x82);
    queue.pollAndReport();
    queue.isComplete(1);
    assertThat(callbacks.told).containsExactly("RETRY_EXCEEDED " + 0x81);
    assertThat(queue.isComplete(1)).isFalse();
  }

  @Test
  void allMethodsThatPollReportFailures() {
    List<Runnable> methods =
        List.of(
            () -> queue.isComplete(1),
            () -> queue.pollAndReport(),
            () -> queue.probe(),
            () -> assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL));
    for (Runnable method : methods) {
      callbacks.told.clear();
      use(queue(-1));
      send(UNACKED);
      device.failed(completions, 77, 1, CompletionStatus.RNR_RETRY_EXCEEDED, 0);
      method.run();
      assertThat(callbacks.told).containsExactly("RNR_RETRY_EXCEEDED 0");
    }
  }

  @Test
  void afterAFailureNoControlMessagesArePosted() {
    send(1);
    device.failed(completions, 77, 1, CompletionStatus.FLUSHED, 0);
    queue.pollAndReport();
    int before = device.sends().size();
    protocol.reportDue = true;
    assertThat(sendsReport()).isFalse();
    assertThat(queue.controls().sayGoodbye()).isFalse();
    queue.probe();
    assertThat(queue.isComplete(1)).isFalse();
    assertThat(queue.isDrained()).as("it never will be").isTrue();
    assertThat(device.sends()).hasSize(before);
  }

  /** Records whether the queue's lock is free during callbacks. */
  private final class LockChecker extends RecordingCallbacks {

    private void check() {
      Thread other = new Thread(queue::pollAndReport);
      other.start();
      try {
        other.join(10_000);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      told.add(other.isAlive() ? "locked" : "free");
    }

    @Override
    public void onSendFailure(CompletionStatus status, int vendorError) {
      check();
    }

    @Override
    public void onCallFailure(String function, int errno) {
      check();
    }
  }

  @Test
  void failuresAreReportedOutsideOfTheLock() {
    LockChecker checker = new LockChecker();
    use(queue(UNACKED, -1, checker));
    device.sendErrno = Errno.ENOMEM;
    outbox.stage(outbox.reserve(1, 1), 1, 1);
    outbox.publish();
    device.sendErrno = 0;
    device.failed(completions, 77, 1, CompletionStatus.FLUSHED, 0);
    queue.pollAndReport();
    assertThat(checker.told).containsExactly("free", "free");
  }

  @Test
  void aClosedQueueNeitherPostsNorPolls() {
    send(1);
    outbox.stage(outbox.reserve(1, 1), 1, 1);
    int polls = device.polls.get();
    queue.close();
    protocol.reportDue = true;

    assertThat(outbox.publish()).isFalse();
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL);
    assertThat(sendsReport()).isFalse();
    assertThat(queue.controls().sayGoodbye()).isFalse();
    assertThat(queue.isComplete(1)).isFalse();
    assertThat(queue.isDrained()).isTrue();
    queue.probe();
    queue.pollAndReport();
    queue.arm();

    assertThat(device.sends()).hasSize(1);
    assertThat(device.polls).hasValue(polls);
    assertThat(device.notifications).hasValue(0);
    assertThat(callbacks.told).isEmpty();
  }

  @Test
  void oneRequestSufficesUntilItsEventWhichWakesThreads() {
    queue.arm(); // by the sender
    queue.arm(); // by remote memory access
    assertThat(device.notifications).hasValue(1);
    queue.onEvent();
    assertThat(callbacks.progress).hasValue(1);
    queue.arm();
    assertThat(device.notifications).hasValue(2);
  }

  @Test
  void aFailedEventRequestIsReportedAndRepeated() {
    device.notificationErrno = Errno.EIO;
    queue.arm();
    assertThat(callbacks.told).containsExactly("ibv_req_notify_cq " + Errno.EIO);
    device.notificationErrno = 0;
    queue.arm();
    queue.arm();
    assertThat(device.notifications).hasValue(2);
    assertThat(callbacks.told).hasSize(1);
  }

  @Test
  void aProbeOfAnIdleConnectionIsAnEmptyWrite() {
    queue.probe();
    Send probe = device.lastSend();
    assertThat(probe.operation()).isEqualTo(ScriptedDevice.RDMA_WRITE);
    assertThat(probe.length()).isZero();
    assertThat(probe.isSignaled()).isTrue();

    queue.probe();
    assertThat(device.sends()).as("one is outstanding already").hasSize(1);
    device.sent(completions, probe.id());
    queue.probe();
    assertThat(device.sends()).hasSize(2);
  }

  @Test
  void aProbePostsNothingIfASignaledMessageIsOutstanding() {
    send(SIGNAL_INTERVAL);
    queue.probe();
    assertThat(device.sends()).hasSize(SIGNAL_INTERVAL);
    send(1);
    queue.probe();
    assertThat(device.sends()).hasSize(SIGNAL_INTERVAL + 2);
    assertThat(device.lastSend().operation()).isEqualTo(ScriptedDevice.RDMA_WRITE);
  }

  /**
   * Returns the number of probes without progress until a stall. The time between them is so long
   * that message lengths do not matter.
   */
  private int stalledProbes() {
    int probes = 0;
    while (queue.isStalled(probes, 1_000_000_000)) {
      probes++;
    }
    return probes;
  }

  @Test
  void probesWithoutProgressAreCounted() {
    queue.probe();
    assertThat(stalledProbes()).isZero();
    queue.probe();
    queue.probe();
    assertThat(stalledProbes()).isEqualTo(2);

    device.sent(completions, device.lastSend().id());

    queue.probe();
    assertThat(stalledProbes()).isZero();
  }

  @Test
  void theFirstProbeFindsNoStall() {
    send(SIGNAL_INTERVAL);
    queue.probe();
    assertThat(stalledProbes()).isZero();
    queue.probe();
    assertThat(stalledProbes()).isEqualTo(1);
  }

  @Test
  void anyAcknowledgmentIsProgress() {
    send(2 * SIGNAL_INTERVAL);
    queue.probe();
    device.sent(completions, SIGNAL_INTERVAL);
    queue.probe();
    assertThat(stalledProbes()).isZero();
    queue.probe();
    assertThat(stalledProbes()).isEqualTo(1);
  }

  @Test
  void theQueueIsDrainedWhenMessagesAndGoodbyeAreAcknowledged() {
    assertThat(queue.isDrained()).isTrue();
    send(1);
    assertThat(queue.isDrained()).isFalse();
    device.sent(completions, device.lastSend().id());
    assertThat(queue.isDrained()).isTrue();
    queue.controls().sayGoodbye();
    assertThat(queue.isDrained()).isFalse();
    device.sent(completions, device.lastSend().id());
    assertThat(queue.isDrained()).isTrue();
  }

  @Test
  void moreCompletionsThanABatchAreAllTaken() {
    useCredits(FakeProtocol.UNLIMITED);
    use(queue(4 * CompletionQueue.BATCH, -1, callbacks));
    for (int i = 1; i <= CompletionQueue.BATCH + 1; i++) {
      outbox.reserve(LONG_MESSAGE, 0);
      outbox.stageGather(SendQueue.NO_LINES, 0, 0L, LONG_MESSAGE, 0);
      outbox.publish();
      device.sent(completions, i);
    }
    queue.pollAndReport();
    assertThat(queue.isDelivered()).isTrue();
  }

  @Test
  void numbersContinueWhenTheirTableWrapsAround() {
    useCredits(FakeProtocol.UNLIMITED);
    device.onSend =
        send -> {
          if (send.isSignaled()) {
            device.sent(completions, send.id());
          }
        };
    for (int id = 1; id <= 10_000; id++) {
      send(1);
      if (id % 7 == 0) {
        queue.isComplete(id); // posts an empty WRITE
        assertThat(queue.isComplete(id)).isTrue();
      }
    }
    queue.isDrained();
    assertThat(queue.isDrained()).isTrue();
    assertThat(outbox.reserve(LINES * SendQueue.LINE, LINES * SendQueue.LINE))
        .as("all memory")
        .isZero();
  }
}
