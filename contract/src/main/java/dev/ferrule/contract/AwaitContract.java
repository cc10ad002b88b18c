// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ids: one per message, starting at 1, which may be awaited in any order. */
public abstract class AwaitContract extends Contract {

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected AwaitContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  void idsStartAtOneAndGrowByOneWhateverTheWayOfSending() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MemorySegment memory = Arena.ofAuto().allocate(64);
    RegisteredMemory registered = pair.client().register(memory);

    assertThat(sender.send(memory)).isEqualTo(1);
    assertThat(sender.claim(10).commit()).isEqualTo(2);
    assertThat(sender.claim(10).commit(4)).isEqualTo(3);
    assertThat(sender.sendRegistered(registered, 0, 10)).isEqualTo(4);
    assertThat(sender.claim(10).stage()).isEqualTo(5);
    assertThat(sender.claim(10).stage(4)).isEqualTo(6);
    assertThat(sender.send(MemorySegment.ofArray(new byte[0]))).isEqualTo(7);
    sender.claim(10).abort();
    SendRegion region = sender.tryClaim(10);
    assertThat(region).isNotNull();
    region.abort();
    assertThat(sender.send(memory, 3, 4)).isEqualTo(8);
  }

  @Test
  void idsFollowTheSendsAndNotTheClaims() {
    Sender sender = connect().client().sender();
    var first = sender.claim(1);
    var second = sender.claim(1);

    assertThat(second.commit()).isEqualTo(1);
    assertThat(first.commit()).isEqualTo(2);
  }

  @Test
  void eachSenderCountsForItself() {
    Pair pair = connect();
    Pair another = connect();
    MemorySegment message = MemorySegment.ofArray(new byte[1]);

    assertThat(pair.client().sender().send(message)).isEqualTo(1);
    assertThat(pair.client().sender().send(message)).isEqualTo(2);
    assertThat(pair.server().sender().send(message)).isEqualTo(1);
    assertThat(another.client().sender().send(message)).isEqualTo(1);
  }

  @Test
  void idsMayBeAwaitedInAnyOrderAndMoreThanOnce() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofRandomLengths(1, 100);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    Random random = new Random(2);

    for (int round = 0; round < provider.messages(200); round++) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        ids.add(sender.send(MemorySegment.ofArray(stream.bytes(receiver.count() + i))));
      }
      ids.addAll(ids);
      Collections.shuffle(ids, random);
      for (long id : ids) {
        if (random.nextBoolean()) {
          sender.await(id);
        } else {
          sender.await(id, PATIENCE);
        }
        assertThat(sender.isComplete(id)).isTrue();
      }
      receiver.receiveUpTo(receiver.count() + 10, NumberedReceiver.Way.RECEIVE);
    }
  }

  @Test
  void awaitingAnIdCompletesAllEarlierOnes() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    for (int i = 0; i < 20; i++) {
      sender.send(MemorySegment.ofArray(new byte[30]));
    }

    sender.await(15);

    for (long id = 1; id <= 15; id++) {
      assertThat(sender.isComplete(id)).as("id %d", id).isTrue();
    }
  }

  @Test
  void idsCompleteWithoutACallOfTheReceiver() {
    Sender sender = connect().client().sender();

    long id = sender.send(MemorySegment.ofArray(new byte[30]));

    eventually("the id completes", () -> sender.isComplete(id));
  }

  @Test
  void oldIdsStayComplete() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(16);
    NumberedSender sender = new NumberedSender(pair.client(), stream, 16);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    int messages = provider.messages(100_000);
    while (sender.count() < messages) {
      sender.send(NumberedSender.Way.CLAIM);
      receiver.receive(NumberedReceiver.Way.RECEIVE);
    }

    for (long id : new long[] {1, 2, messages / 2, messages}) {
      pair.client().sender().await(id);
      pair.client().sender().await(id, Duration.ZERO);
      assertThat(pair.client().sender().isComplete(id)).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 4, 5, 1_000_000, Long.MAX_VALUE, Long.MIN_VALUE})
  void anIdThatWasNeverAssignedIsRefused(long id) {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    for (int i = 0; i < 3; i++) {
      sender.send(MemorySegment.ofArray(new byte[1]));
    }

    assertThatThrownBy(() -> sender.isComplete(id)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> sender.await(id)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> sender.await(id, PATIENCE))
        .isInstanceOf(IllegalArgumentException.class);

    sender.await(3);
    assertThat(sender.send(MemorySegment.ofArray(new byte[1]))).isEqualTo(4);
  }

  @Test
  void anIdThatWasNeverAssignedIsRefusedBeforeTheFirstMessage() {
    Sender sender = connect().client().sender();

    assertThatThrownBy(() -> sender.isComplete(1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> sender.await(1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> sender.await(0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void awaitingACompleteIdReturnsAtOnce() {
    Sender sender = connect().client().sender();
    long id = sender.send(MemorySegment.ofArray(new byte[1]));
    sender.await(id);

    assertThatCode(() -> sender.await(id, Duration.ZERO)).doesNotThrowAnyException();
    assertThatCode(() -> sender.await(id, Duration.ofSeconds(-1))).doesNotThrowAnyException();
    assertThatCode(() -> sender.await(id, Duration.ofSeconds(Long.MAX_VALUE)))
        .doesNotThrowAnyException();
  }

  @Test
  void completeIdsStayCompleteAfterTheConnectionWasClosed() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    long id = sender.send(MemorySegment.ofArray(new byte[1]));
    sender.await(id);

    pair.client().close();

    assertThat(sender.isComplete(id)).isTrue();
    assertThatCode(() -> sender.await(id)).doesNotThrowAnyException();
    assertThatCode(() -> sender.await(id, PATIENCE)).doesNotThrowAnyException();
  }
}
