// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims: several at once, sent or aborted in any order, under back pressure. */
public abstract class ClaimContract extends Contract {

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected ClaimContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  void messagesArriveInSendOrderRegardlessOfClaimOrder() {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, 2L * KIB));
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofRandomLengths(1, 2 * KIB);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    Random random = new Random(2);

    int rounds = provider.messages(4_000);
    for (int round = 0; round < rounds; round++) {
      int claims = 1 + random.nextInt(8);
      List<Integer> order = new ArrayList<>();
      for (int i = 0; i < claims; i++) {
        order.add(i);
      }
      List<Integer> claimOrder = new ArrayList<>(order);
      Collections.shuffle(claimOrder, random);
      SendRegion[] regions = new SendRegion[claims];
      long first = receiver.count();
      for (int i : claimOrder) {
        regions[i] = sender.claim(stream.length(first + i), PATIENCE);
      }
      Collections.shuffle(claimOrder, random);
      for (int i : claimOrder) {
        stream.write(regions[i].segment(), 0, first + i);
      }
      for (int i : order) {
        regions[i].commit();
      }
      receiver.receiveUpTo(first + claims, NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
  }

  @Test
  void sendsAndAbortsMayBeMixedInAnyOrder() {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, 2L * KIB));
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofRandomLengths(3, 2 * KIB);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    Random random = new Random(4);
    List<SendRegion> claimed = new ArrayList<>();
    long sent = 0;

    int messages = provider.messages(30_000);
    while (sent < messages) {
      while (claimed.size() < 6) {
        claimed.add(sender.claim(2 * KIB, PATIENCE));
      }
      SendRegion region = claimed.remove(random.nextInt(claimed.size()));
      if (random.nextInt(3) == 0) {
        region.abort();
      } else {
        stream.write(region.buffer(), region.offset(), sent);
        region.commit(stream.length(sent));
        sent++;
      }
      if (sent - receiver.count() > 3) {
        receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
      }
    }
    claimed.forEach(SendRegion::abort);
    receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(sent);
  }

  @Test
  void claimedRegionsDoNotOverlap() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofRandomLengths(5, KIB);
    List<SendRegion> regions = new ArrayList<>();
    SendRegion region = sender.tryClaim(stream.length(0));
    while (region != null) {
      regions.add(region);
      region = sender.tryClaim(stream.length(regions.size()));
    }

    for (int i = regions.size() - 1; i >= 0; i--) {
      stream.write(regions.get(i).segment(), 0, i);
    }
    for (int i = 0; i < regions.size(); i++) {
      stream.verify(regions.get(i).segment(), 0, regions.get(i).length(), i);
    }
    regions.forEach(SendRegion::abort);
  }

  @Test
  void claimedRegionsCanBeSentWithoutWaiting() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofLength(200);
    List<SendRegion> regions = new ArrayList<>();
    SendRegion claimed = sender.tryClaim(200);
    while (claimed != null) {
      stream.write(claimed.buffer(), claimed.offset(), regions.size());
      regions.add(claimed);
      claimed = sender.tryClaim(200);
    }

    regions.forEach(SendRegion::commit); // the peer does not receive

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(regions.size(), NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 100, 5_000})
  void backPressureReturnsNullAndLosesNothing(int length) {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(length);
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    long sent = 0;

    for (int round = 0; round < 3; round++) {
      sent = sendUntilBackPressure(sender, stream, sent);
      receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
  }

  @Test
  void claimingAllBufferSpaceFailsInsteadOfHanging() throws Exception {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MemorySegment memory = Arena.ofAuto().allocate(600);
    RegisteredMemory registered = pair.client().register(memory);
    List<SendRegion> regions = new ArrayList<>();
    SendRegion region = sender.tryClaim(600);
    while (region != null) {
      regions.add(region);
      region = sender.tryClaim(600);
    }

    Callable<SendRegion> claimMore = () -> sender.claim(600, PATIENCE);
    failsOnceAllIsClaimed(() -> regions.add(claimMore.call()), () -> {});
    failsOnceAllIsClaimed(() -> regions.add(sender.claim(600)), () -> {});
    ThrowingCallable[] sends = {
      () -> sender.send(memory),
      () -> sender.stage(memory),
      () -> sender.sendRegistered(registered, 0, 600)
    };
    for (ThrowingCallable send : sends) {
      failsOnceAllIsClaimed(
          send,
          () -> {
            sender.flush();
            pair.server().receiver().receive(PATIENCE).close();
            regions.add(claimMore.call());
          });
    }
    SendRegion more = sender.tryClaim(600);
    while (more != null) {
      regions.add(more);
      more = sender.tryClaim(600);
    }

    regions.remove(0).abort();
    regions.add(sender.claim(600));
    regions.forEach(SendRegion::commit);
    for (int i = 0; i < regions.size(); i++) {
      try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.length()).isEqualTo(600);
      }
    }
  }

  /**
   * Checks that a call that needs space fails while this thread has claimed all of it. A transport
   * may add space at any time, so that the call succeeds; then {@code claimUsed} claims the space
   * that the call used.
   */
  private static void failsOnceAllIsClaimed(ThrowingCallable call, Work claimUsed)
      throws Exception {
    Throwable thrown = catchThrowable(call);
    while (thrown == null) {
      claimUsed.run();
      thrown = catchThrowable(call);
    }
    assertThat(thrown).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void claimContinuesWhenTheReceiverFrees() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(500);
    Sender sender = pair.client().sender();
    SendLoop sends = new SendLoop(pair.client(), 0, number -> claimAndSend(sender, stream, number));
    Background<Boolean> sending = inBackground("sender", sends::call);
    sends.awaitBlocked();
    long blocked = sends.count();

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(2 * blocked, NumberedReceiver.Way.RECEIVE);

    sends.stop();
    while (!sending.isDone()) {
      receiver.poll(1);
    }
    sending.result();
    receiver.receiveUpTo(sends.count(), NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100, 2_000})
  void claimingAndAbortingOccupiesNoSpace(int length) {
    Pair pair = connect();
    Sender sender = pair.client().sender();

    for (int i = 0; i < provider.messages(50_000); i++) {
      SendRegion region = sender.tryClaim(length);
      assertThat(region).as("claim %d while the peer does not receive", i).isNotNull();
      region.abort();
    }
    new NumberedReceiver(pair.server(), MessageStream.ofLength(length)).expectNoMore();
  }

  @Test
  void abortReleasesSpaceInAnyOrder() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    Random random = new Random(6);
    int capacity = 1;

    for (int i = 0; i < 20; i++) { // a transport may add space meanwhile
      int claimed = claimAllAndAbort(sender, 300, random);
      assertThat(claimed).isGreaterThanOrEqualTo(capacity);
      capacity = claimed;
    }
  }

  @Test
  void noSpaceIsLostOverManyMessages() {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, 2L * KIB));
    Sender sender = pair.client().sender();
    Random random = new Random(7);
    int before = claimAllAndAbort(sender, 300, random);
    MessageStream stream = MessageStream.ofRandomLengths(8, 2 * KIB);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    int messages = provider.messages(60_000);
    for (int number = 0; number < messages; number++) {
      SendRegion first = sender.claim(random.nextInt(2 * KIB), PATIENCE);
      SendRegion second = sender.claim(2 * KIB, PATIENCE);
      SendRegion third = sender.claim(random.nextInt(100), PATIENCE);
      stream.write(second.buffer(), second.offset(), number);
      first.abort();
      second.commit(stream.length(number));
      third.abort();
      receiver.receive(NumberedReceiver.Way.RECEIVE);
    }

    // the wrap of a ring may cost a region or two, but a leak per message would leave nothing
    eventually("the space is free", () -> claimAllAndAbort(sender, 300, random) >= before / 2 + 1);
  }

  @Test
  void aClaimHeldForLongIsNeitherLostNorOverwritten() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(400);
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    SendRegion held = sender.claim(399);
    held.segment().fill((byte) 0x5a);

    long sent = 0;
    try {
      while (sent < 5_000) {
        SendRegion region = sender.claim(400, LASTING);
        stream.write(region.buffer(), region.offset(), sent++);
        region.commit();
        receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
      }
    } catch (OperationTimeoutException | IllegalStateException e) {
      // a ring may have to wait for the held claim, or detects that only this thread can end that
    }
    assertThat(sent).as("messages that overtook the held claim").isPositive();
    held.commit();

    ReceiveRegion message = pair.server().receiver().receive(PATIENCE);
    assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE)).hasSize(399).containsOnly(0x5a);
    message.close();
    sender.send(MemorySegment.ofArray(stream.bytes(sent)));
    receiver.receive(NumberedReceiver.Way.RECEIVE);
  }

  @Test
  void aRegionIsExactlyWhatWasClaimed() {
    Sender sender = connect().client().sender();

    for (int length : new int[] {0, 1, 7, 8, 60, 64, 65, 1_000}) {
      SendRegion region = sender.claim(length);
      MemorySegment segment = region.segment();
      assertThat(region.length()).isEqualTo(length);
      assertThat(segment.byteSize()).isEqualTo(length);
      assertThat(segment.isReadOnly()).isFalse();
      assertThatThrownBy(() -> segment.set(ValueLayout.JAVA_BYTE, length, (byte) 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(region.offset() + length).isLessThanOrEqualTo(region.buffer().byteSize());
      segment.fill((byte) 3);
      assertThat(region.buffer().asSlice(region.offset(), length).toArray(ValueLayout.JAVA_BYTE))
          .isEqualTo(segment.toArray(ValueLayout.JAVA_BYTE));
      region.abort();
    }
  }

  @Test
  void anyThreadMayWriteToARegion() {
    Pair pair = connect();
    SendRegion region = pair.client().sender().claim(11);

    inBackground("writer", () -> region.segment().setString(0, "from there")).result();
    region.commit();

    assertThat(pair.server().receiver().receive(PATIENCE).segment().getString(0))
        .isEqualTo("from there");
  }

  @Test
  void aRegionThatWasSentIsNotClaimedAnyMore() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    SendRegion region = sender.claim(10);
    region.commit();

    assertNotClaimed(region);

    pair.server().receiver().receive(PATIENCE).close();
    new NumberedReceiver(pair.server(), MessageStream.ofLength(10)).expectNoMore();
  }

  @Test
  void aRegionThatWasAbortedIsNotClaimedAnyMore() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    SendRegion region = sender.claim(10);
    region.abort();

    assertNotClaimed(region);

    new NumberedReceiver(pair.server(), MessageStream.ofLength(10)).expectNoMore();
  }

  @Test
  void aRegionThatWasBatchedIsNotClaimedAnyMore() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    SendRegion region = sender.claim(10);
    region.stage();

    assertNotClaimed(region);

    sender.flush();
    pair.server().receiver().receive(PATIENCE).close();
    new NumberedReceiver(pair.server(), MessageStream.ofLength(10)).expectNoMore();
  }

  @Test
  void aRegionThatIsClosedWithoutACommitIsAborted() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofLength(600);
    for (int i = 0; i < 2_000; i++) { // more than there is space for
      try (SendRegion region = sender.claim(600, PATIENCE)) {
        region.buffer();
      }
      try (SendRegion other = sender.claim(5, PATIENCE);
          SendRegion region = sender.claim(600, PATIENCE)) {
        other.buffer();
        region.buffer();
        throw new IllegalStateException("between claim and commit");
      } catch (IllegalStateException e) {
        assertThat(e).hasMessage("between claim and commit");
      }
    }

    try (SendRegion region = sender.claim(600, PATIENCE)) {
      send(sender, region, stream, 0);
    }
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(1, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
  }

  @Test
  void aRegionMayBeClosedAfterItWasCommittedStagedOrAborted() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    SendRegion committed = sender.claim(10);
    committed.commit();
    committed.close();
    SendRegion staged = sender.claim(10);
    staged.stage();
    staged.close();
    SendRegion aborted = sender.claim(10);
    aborted.abort();
    aborted.close();
    aborted.close();
    sender.flush();

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), MessageStream.ofLength(10));
    pair.server().receiver().receive(PATIENCE).close();
    pair.server().receiver().receive(PATIENCE).close();
    receiver.expectNoMore();
  }

  @Test
  void aRegionMayBeClosedAfterTheConnection() {
    Pair pair = connect();
    SendRegion region = pair.client().sender().claim(10);
    pair.client().close();
    region.close();
    region.close();
  }

  private static void assertNotClaimed(SendRegion region) {
    assertThatThrownBy(() -> region.commit()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> region.commit(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> region.stage()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> region.stage(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(region::abort).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(region::segment).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(region::buffer).isInstanceOf(IllegalStateException.class);
  }

  private static int claimAllAndAbort(Sender sender, int length, Random random) {
    List<SendRegion> regions = new ArrayList<>();
    SendRegion region = sender.tryClaim(length);
    while (region != null) {
      regions.add(region);
      region = sender.tryClaim(length);
    }
    Collections.shuffle(regions, random);
    regions.forEach(SendRegion::abort);
    return regions.size();
  }
}
