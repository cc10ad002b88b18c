// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.fake.ScriptedDevice.Send;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Remote memory access on a fake device. */
class OneSidedOperationsTest {

  private static final int UNACKED = 4;
  private static final int PIECES = 32;
  private static final int REMOTE_KEY = 0x77;
  private static final int REGION = 9;

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final RecordingCallbacks callbacks = new RecordingCallbacks();
  private final SendQueue sends =
      new SendQueue(
          new Channel.Parts(
              device.queuePair(77),
              completions,
              device.sendMemory(UNACKED * SendQueue.LINE),
              UNACKED,
              64,
              callbacks),
          new FakeProtocol(1000));
  private final Outbox outbox = sends.newOutbox();
  private final OneSidedOperations queue = sends.accesses();
  private final Memory memory = new Memory();
  private final Registration registration = new Registration();
  private final List<Integer> released = new ArrayList<>();

  /** Memory of the peer, whose exposure may end. */
  private static final class Memory implements OneSidedOperations.Target {
    private boolean exposed = true;

    @Override
    public int remoteKey() {
      return REMOTE_KEY;
    }

    @Override
    public int region() {
      return REGION;
    }

    @Override
    public boolean acquire() {
      return exposed;
    }
  }

  /** Memory of this side, whose registration may be closed. */
  private static final class Registration implements OneSidedOperations.Source {
    private boolean open = true;

    @Override
    public int localKey() {
      return 3;
    }

    @Override
    public boolean isUsable() {
      return open;
    }
  }

  @BeforeEach
  void listen() {
    queue.onRegionRelease(released::add);
  }

  private OneSidedOperations.Result post(boolean write, int length, long operation) {
    return queue.tryPost(write, registration, 0x1000, memory, 0x20, length, operation);
  }

  private void complete(Send send) {
    device.sent(completions, send.id());
  }

  @Test
  void writesAndReadsAreSignaledAndNeverInline() {
    assertThat(post(true, 8, 1)).isEqualTo(OneSidedOperations.Result.POSTED);
    Send write = device.lastSend();
    assertThat(post(false, 8, 2)).isEqualTo(OneSidedOperations.Result.POSTED);
    Send read = device.lastSend();

    assertThat(write.operation()).isEqualTo(ScriptedDevice.RDMA_WRITE);
    assertThat(read.operation()).isEqualTo(ScriptedDevice.RDMA_READ);
    for (Send send : List.of(write, read)) {
      assertThat(send.address()).isEqualTo(0x1000);
      assertThat(send.key()).isEqualTo(3);
      assertThat(send.length()).isEqualTo(8);
      assertThat(send.remoteAddress()).isEqualTo(0x20);
      assertThat(send.remoteKey()).isEqualTo(REMOTE_KEY);
      assertThat(send.isSignaled()).isTrue();
      assertThat(send.isInline()).isFalse();
    }
  }

  private OneSidedOperations.Result postAtomic(boolean swap, long operation) {
    return queue.tryPostAtomic(swap, registration, 0x1000, memory, 0x20, -3, 11, operation);
  }

  @Test
  void anAtomicOperationHasItsOperandsAndAWordOnBothSides() {
    assertThat(postAtomic(false, 1)).isEqualTo(OneSidedOperations.Result.POSTED);
    Send addition = device.lastSend();
    assertThat(postAtomic(true, 2)).isEqualTo(OneSidedOperations.Result.POSTED);
    Send swap = device.lastSend();

    assertThat(addition.operation()).isEqualTo(ScriptedDevice.FETCH_AND_ADD);
    assertThat(addition.operand()).isEqualTo(-3);
    assertThat(swap.operation()).isEqualTo(ScriptedDevice.COMPARE_AND_SWAP);
    assertThat(swap.operand()).isEqualTo(-3);
    assertThat(swap.swap()).isEqualTo(11);
    for (Send send : List.of(addition, swap)) {
      assertThat(send.address()).isEqualTo(0x1000);
      assertThat(send.key()).isEqualTo(3);
      assertThat(send.length()).isEqualTo(8);
      assertThat(send.remoteAddress()).isEqualTo(0x20);
      assertThat(send.remoteKey()).isEqualTo(REMOTE_KEY);
      assertThat(send.isSignaled()).isTrue();
      assertThat(send.isInline()).isFalse();
    }
  }

  @Test
  void anAtomicOperationSharesTheSpaceAndTheRulesOfOtherAccesses() {
    post(false, 8, 1);
    queue.fence();
    postAtomic(false, 2);
    post(true, 8, 3);
    assertThat(device.sends()).extracting(Send::isFenced).containsExactly(false, true, false);
    assertThat(device.lastSend().remoteKey()).isEqualTo(REMOTE_KEY);
    for (int i = 4; i <= PIECES; i++) {
      postAtomic(true, i);
    }
    assertThat(postAtomic(true, PIECES + 1)).isEqualTo(OneSidedOperations.Result.FULL);
    complete(device.sends().get(1));
    assertThat(queue.isDone(2)).isTrue();
    assertThat(released).containsExactly(REGION, REGION);

    memory.exposed = false;
    assertThat(postAtomic(true, PIECES + 1)).isEqualTo(OneSidedOperations.Result.GONE);
    registration.open = false;
    assertThat(postAtomic(true, PIECES + 1)).isEqualTo(OneSidedOperations.Result.CLOSED);
  }

  @Test
  void requestsForThePeersTableAreKeptFreeOfOperationsThatDoNotWait() {
    int free = PIECES - OneSidedOperations.TABLE_REQUESTS;
    assertThat(queue.free()).isEqualTo(free);
    for (int i = 1; i <= free; i++) {
      post(true, 8, i);
      assertThat(queue.free()).isEqualTo(free - i);
    }
    assertThat(post(true, 8, free + 1))
        .as("one that may wait")
        .isEqualTo(OneSidedOperations.Result.POSTED);
    assertThat(queue.free()).isZero();
    complete(device.sends().get(2));
    assertThat(queue.free()).as("after three have completed").isEqualTo(2);
  }

  @Test
  void anEmptyAccessHasNoMemory() {
    post(false, 0, 1);

    assertThat(device.lastSend().operation()).isEqualTo(ScriptedDevice.RDMA_WRITE);
    assertThat(device.lastSend().remoteKey()).isZero();
    assertThat(device.lastSend().length()).isZero();
  }

  @Test
  void onlyTheRequestAfterAFenceWaitsForReads() {
    post(false, 8, 1);
    queue.fence();
    post(true, 8, 2);
    post(true, 8, 3);

    assertThat(device.sends()).extracting(Send::isFenced).containsExactly(false, true, false);
  }

  @Test
  void anOperationIsDoneWithItsLastRequest() {
    post(true, 8, 0);
    post(true, 8, 1);
    List<Send> pieces = device.sends();
    complete(pieces.get(0));
    assertThat(queue.isDone(1)).isFalse();

    complete(pieces.get(1));

    assertThat(queue.isDone(1)).isTrue();
    assertThat(queue.isDone(2)).isFalse();
  }

  @Test
  void eachRequestReleasesItsRegionOnCompletion() {
    post(true, 8, 0);
    post(true, 8, 1);
    assertThat(queue.isDone(1)).isFalse();
    assertThat(released).isEmpty();

    complete(device.lastSend()); // and the one before it

    assertThat(queue.isDone(1)).isTrue();
    assertThat(released).containsExactly(REGION, REGION);
  }

  @Test
  void nothingIsPostedForMemoryThatIsNoLongerExposed() {
    memory.exposed = false;

    assertThat(post(true, 8, 1)).isEqualTo(OneSidedOperations.Result.GONE);

    assertThat(device.sends()).isEmpty();
    assertThat(released).isEmpty();
    assertThat(queue.lastRequest()).isZero();
  }

  @Test
  void nothingIsPostedFromMemoryThatIsNoLongerRegistered() {
    post(true, 8, 0);
    registration.open = false;

    assertThat(post(true, 8, 1)).isEqualTo(OneSidedOperations.Result.CLOSED);

    assertThat(device.sends()).hasSize(1);
    assertThat(queue.lastRequest()).isEqualTo(device.lastSend().id());
  }

  @Test
  void accessesAndMessagesDoNotShareSpace() {
    for (int i = 1; i <= PIECES; i++) {
      assertThat(post(true, 8, i)).isEqualTo(OneSidedOperations.Result.POSTED);
    }
    assertThat(post(true, 8, PIECES + 1)).isEqualTo(OneSidedOperations.Result.FULL);

    for (int i = 0; i < UNACKED; i++) {
      int line = outbox.reserve(1, 1);
      assertThat(line).isGreaterThan(SendQueue.FULL);
      outbox.stage(line, 1, 1);
    }
    assertThat(outbox.publish()).isTrue();
    assertThat(outbox.reserve(1, 1)).isEqualTo(SendQueue.FULL);
    complete(device.sends().get(0));

    assertThat(post(true, 8, PIECES + 1)).isEqualTo(OneSidedOperations.Result.POSTED);
    assertThat(post(true, 8, PIECES + 2)).isEqualTo(OneSidedOperations.Result.FULL);
  }

  @Test
  void requestsForTheTableHaveReservedSpace() {
    for (int i = 1; i <= PIECES; i++) {
      post(true, 8, i);
    }
    long number = 0;
    for (int i = 0; i < OneSidedOperations.TABLE_REQUESTS; i++) {
      number = queue.postForTable(true, 0x40, 3, 0x60, 4, 8);
    }

    assertThat(device.sends()).hasSize(PIECES + OneSidedOperations.TABLE_REQUESTS);
    assertThat(queue.isRetired(number)).isFalse();
    complete(device.lastSend());
    assertThat(queue.isRetired(number)).isTrue();
    assertThat(released).hasSize(PIECES);
  }

  @Test
  void theCompletionOfALaterAccessAcknowledgesAMessage() {
    int line = outbox.reserve(1, 1);
    outbox.stage(line, 1, 1);
    outbox.publish();
    post(true, 8, 1);

    complete(device.lastSend());

    assertThat(sends.isComplete(1)).isTrue();
  }

  @Test
  void aFailedAccessIsReportedAndNothingIsPostedAfterIt() {
    post(true, 8, 1);
    device.failed(
        completions, 77, device.lastSend().id(), CompletionStatus.REMOTE_ACCESS_ERROR, 12);

    assertThat(queue.isDone(1)).isFalse();

    assertThat(callbacks.told).containsExactly("access: REMOTE_ACCESS_ERROR 12");
    assertThat(post(true, 8, 2)).isEqualTo(OneSidedOperations.Result.POSTED);
    assertThat(queue.postForTable(true, 0, 0, 0, 0, 8)).isZero();
    assertThat(device.sends()).hasSize(1);
  }

  @Test
  void aMessageThatFailsBehindAnAccessIsNotReportedAsOne() {
    post(true, 8, 1);
    complete(device.lastSend());
    int line = outbox.reserve(1, 1);
    outbox.stage(line, 1, 1);
    outbox.publish();
    device.failed(
        completions, 77, device.lastSend().id(), CompletionStatus.REMOTE_ACCESS_ERROR, 12);

    assertThat(sends.isComplete(1)).isFalse();

    assertThat(callbacks.told).containsExactly("REMOTE_ACCESS_ERROR 12");
  }

  @Test
  void aFailureToPostAnAccessIsReported() {
    device.sendErrno = 12;

    post(true, 8, 1);

    assertThat(callbacks.told).containsExactly("ibv_post_send 12");
  }
}
