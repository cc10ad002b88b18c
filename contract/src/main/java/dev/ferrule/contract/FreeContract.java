// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Received regions: held for any time, freed in any order, exactly once. */
public abstract class FreeContract extends Contract {

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected FreeContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  void regionsMayBeFreedInAnyOrderForAsLongAsTheConnectionLives() {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, 2L * KIB));
    MessageStream stream = MessageStream.ofRandomLengths(1, 2 * KIB);
    int messages = provider.messages(100_000);

    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              NumberedSender sender = new NumberedSender(pair.client(), stream, 2 * KIB);
              while (sender.count() < messages) {
                sender.send(NumberedSender.Way.CLAIM);
              }
            });
    Random random = new Random(2);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    List<Held> held = new ArrayList<>();
    while (receiver.count() < messages) {
      held.add(hold(receiver));
      while (held.size() > random.nextInt(8)) {
        held.remove(random.nextInt(held.size())).checkAndFree(stream);
      }
    }
    held.forEach(message -> message.checkAndFree(stream));

    sending.result();
    receiver.expectNoMore();
  }

  @Test
  void regionsMayBeFreedLastInFirstOut() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofRandomLengths(3, KIB);
    NumberedSender sender = new NumberedSender(pair.client(), stream, KIB);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    for (int round = 0; round < provider.messages(5_000); round++) {
      List<Held> held = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        sender.send(NumberedSender.Way.CLAIM);
        held.add(hold(receiver));
      }
      for (int i = held.size() - 1; i >= 0; i--) {
        held.get(i).checkAndFree(stream);
      }
    }
    receiver.expectNoMore();
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 100, 1_000, 5_000})
  void aHeldMessageIsNeverOverwrittenUnderBackPressure(int length) {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(length);
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    sender.send(MemorySegment.ofArray(stream.bytes(0)));
    Held held = hold(receiver);

    long sent = 1;
    int messages = provider.messages(20_000);
    try {
      while (sent < messages) {
        SendRegion region = sender.claim(length, LASTING);
        stream.write(region.buffer(), region.offset(), sent++);
        region.commit();
        receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
      }
    } catch (OperationTimeoutException e) {
      // a ring has to wait until the held message is freed; another transport may continue
      // indefinitely
    }
    held.checkAndFree(stream);

    long more = sent + 100;
    while (sent < more) {
      SendRegion region = sender.claim(length, PATIENCE);
      stream.write(region.buffer(), region.offset(), sent++);
      region.commit();
      receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
  }

  @Test
  void someMessagesMayBeHeldWhileManyOthersPass() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(64);
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    List<Held> held = new ArrayList<>();

    for (int i = 0; i < 3; i++) {
      sender.send(MemorySegment.ofArray(stream.bytes(2L * i)));
      sender.send(MemorySegment.ofArray(stream.bytes(2L * i + 1)));
      held.add(hold(receiver));
      receiver.receive(NumberedReceiver.Way.POLL);
    }
    held.get(1).checkAndFree(stream);
    held.get(0).checkAndFree(stream);
    for (int number = 6; number < provider.messages(5_000); number++) {
      if (number == 20) {
        held.get(2).checkAndFree(stream);
      }
      sender.send(MemorySegment.ofArray(stream.bytes(number)));
      receiver.receive(NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
  }

  @Test
  void holdingAllBufferSpaceFailsInsteadOfHanging() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    Receiver receiver = pair.server().receiver();
    List<ReceiveRegion> held = new ArrayList<>();
    List<Integer> lengths = new ArrayList<>();

    assertThatThrownBy(
            () -> {
              while (true) {
                for (int length : new int[] {sender.maxMessage(), 100, 1, 0}) {
                  SendRegion region = sender.tryClaim(length);
                  while (region != null) {
                    region.commit();
                    lengths.add(length);
                    region = sender.tryClaim(length);
                  }
                }
                try {
                  while (true) {
                    held.add(receiver.receive(LASTING));
                  }
                } catch (OperationTimeoutException e) {
                  idle(); // there may be more space soon
                }
              }
            })
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(receiver::receive).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(receiver::tryReceive).isInstanceOf(IllegalStateException.class);

    for (int i = 0; i < held.size(); i++) {
      assertThat(held.get(i).length()).isEqualTo(lengths.get(i));
    }
    held.forEach(receiver::free);
    for (int length : lengths.subList(held.size(), lengths.size())) { // without a region so far
      try (ReceiveRegion message = receiver.receive(PATIENCE)) {
        assertThat(message.length()).isEqualTo(length);
      }
    }
    MessageStream stream = MessageStream.ofLength(1_000);
    NumberedReceiver again = new NumberedReceiver(pair.server(), stream);
    for (int number = 0; number < 100; number++) {
      sender.send(MemorySegment.ofArray(stream.bytes(number)));
      again.receive(NumberedReceiver.Way.RECEIVE);
    }
  }

  @Test
  void freeingTwiceIsRefusedAndHarmsNothing() {
    Pair pair = connect();
    Receiver receiver = pair.server().receiver();
    pair.client().sender().send(MemorySegment.ofArray(new byte[3]));
    ReceiveRegion message = receiver.receive(PATIENCE);

    receiver.free(message);
    assertThatThrownBy(() -> receiver.free(message)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(message::close).isInstanceOf(IllegalStateException.class);

    messagesStillPass(pair);
  }

  @Test
  void closingARegionFreesItOnce() {
    Pair pair = connect();
    Receiver receiver = pair.server().receiver();
    pair.client().sender().send(MemorySegment.ofArray(new byte[3]));
    ReceiveRegion message = receiver.receive(PATIENCE);

    message.close();
    assertThatThrownBy(message::close).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> receiver.free(message)).isInstanceOf(IllegalStateException.class);

    messagesStillPass(pair);
  }

  @Test
  void aFreedRegionNoLongerGivesAccessToItsMemory() {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray(new byte[3]));
    ReceiveRegion message = pair.server().receiver().receive(PATIENCE);

    message.close();

    assertThatThrownBy(message::segment).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(message::buffer).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRegionOfAnotherConnectionIsRefusedAndStaysHeld() {
    Pair pair = connect();
    Pair another = connect();
    pair.client().sender().send(MemorySegment.ofArray(new byte[] {1, 2, 3}));
    ReceiveRegion message = pair.server().receiver().receive(PATIENCE);

    assertThatThrownBy(() -> another.server().receiver().free(message))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> pair.client().receiver().free(message))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3);
    message.close();
    messagesStillPass(pair);
  }

  @Test
  void pollContinuesWhileRegionsAreHeld() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofRandomLengths(4, KIB);
    NumberedSender sender = new NumberedSender(pair.client(), stream, KIB);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    for (int round = 0; round < provider.messages(3_000); round++) {
      sender.send(NumberedSender.Way.CLAIM);
      Held held = hold(receiver);
      for (int i = 0; i < 4; i++) {
        sender.send(NumberedSender.Way.CLAIM);
      }
      receiver.receiveUpTo(sender.count(), NumberedReceiver.Way.POLL);
      held.checkAndFree(stream);
    }
    receiver.expectNoMore();
  }

  private void messagesStillPass(Pair pair) {
    MessageStream stream = MessageStream.ofRandomLengths(5, KIB);
    NumberedSender sender = new NumberedSender(pair.client(), stream, KIB);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    for (int i = 0; i < provider.messages(5_000); i++) {
      sender.send(NumberedSender.Way.CLAIM);
      receiver.receive(NumberedReceiver.Way.RECEIVE);
    }
    receiver.expectNoMore();
  }

  private static Held hold(NumberedReceiver receiver) {
    long number = receiver.count();
    return new Held(receiver, number, receiver.hold(NumberedReceiver.Way.RECEIVE));
  }

  /** A message that the test holds. */
  private record Held(NumberedReceiver receiver, long number, ReceiveRegion message) {

    void checkAndFree(MessageStream stream) {
      stream.verify(message.buffer(), message.offset(), message.length(), number);
      receiver.free(message);
    }
  }
}
