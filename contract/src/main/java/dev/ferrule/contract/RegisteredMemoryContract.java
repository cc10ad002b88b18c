// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Sender;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Sending from registered memory of the program. */
public abstract class RegisteredMemoryContract extends Contract {

  private static final int SIZE = 4 * KIB;

  private final MemorySegment memory = Arena.ofAuto().allocate(SIZE);

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected RegisteredMemoryContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  void anyPartOfTheMemoryCanBeSent() {
    Pair pair = connect();
    RegisteredMemory registered = pair.client().register(memory);
    for (int i = 0; i < SIZE; i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
    }

    int[][] parts = {
      {0, SIZE}, {0, 0}, {SIZE, 0}, {1, 1}, {SIZE - 1, 1}, {13, 700}, {64, 64}, {1, SIZE - 1}
    };
    for (int[] part : parts) {
      pair.client().sender().sendRegistered(registered, part[0], part[1]);
      try (var message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
            .isEqualTo(memory.asSlice(part[0], part[1]).toArray(ValueLayout.JAVA_BYTE));
      }
    }
  }

  @Test
  void manySendsMayBeUnderWayAndMemoryMayBeReusedOnceItsIdIsComplete() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofRandomLengths(1, 900);
    int messages = provider.messages(50_000);

    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              NumberedSender sender = new NumberedSender(pair.client(), stream, 900);
              while (sender.count() < messages) {
                sender.send(NumberedSender.Way.REGISTERED);
              }
            });
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(messages, NumberedReceiver.Way.RECEIVE);

    sending.result();
  }

  @Test
  void theSegmentIsTheOneThatWasRegistered() {
    RegisteredMemory registered = connect().client().register(memory);

    assertThat(registered.segment().address()).isEqualTo(memory.address());
    assertThat(registered.segment().byteSize()).isEqualTo(SIZE);
  }

  @Test
  void severalSegmentsAndTheSameOneTwiceMayBeRegistered() {
    Pair pair = connect();
    RegisteredMemory first = pair.client().register(memory);
    RegisteredMemory again = pair.client().register(memory);
    RegisteredMemory part = pair.client().register(memory.asSlice(100, 10));
    memory.setString(0, "first");
    memory.setString(100, "part");

    first.close();
    pair.client().sender().sendRegistered(again, 0, 6);
    pair.client().sender().sendRegistered(part, 0, 5);

    assertThat(pair.server().receiver().receive(PATIENCE).segment().getString(0))
        .isEqualTo("first");
    assertThat(pair.server().receiver().receive(PATIENCE).segment().getString(0)).isEqualTo("part");
  }

  @Test
  void memoryOnTheHeapIsRefused() {
    Connection connection = connect().client();

    assertThatThrownBy(() -> connection.register(MemorySegment.ofArray(new byte[64])))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void confinedMemoryIsRefused() {
    Connection connection = connect().client();

    try (Arena arena = Arena.ofConfined()) {
      MemorySegment confined = arena.allocate(64);
      assertThatThrownBy(() -> connection.register(confined))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aPartThatLiesOutsideOfTheMemoryIsRefused() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    RegisteredMemory registered = pair.client().register(memory.asSlice(0, 100));

    assertThatThrownBy(() -> sender.sendRegistered(registered, 0, 101))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.sendRegistered(registered, 100, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.sendRegistered(registered, 101, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.sendRegistered(registered, -1, 10))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.sendRegistered(registered, 10, -1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.sendRegistered(registered, Long.MAX_VALUE, 10))
        .isInstanceOf(IndexOutOfBoundsException.class);

    sender.sendRegistered(registered, 90, 10);
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(10);
  }

  private void assertPasses(Pair pair, RegisteredMemory registered, int offset, int length) {
    pair.client().sender().sendRegistered(registered, offset, length);
    assertReceives(pair, part(offset, length));
  }

  @Test
  void memoryCanBeSentOnEveryConnectionOfTheProvider() {
    Pair pair = connect();
    List<Pair> others = List.of(connect(), connect(), connect());
    fillRandomly(3);
    RegisteredMemory registered = pair.client().register(memory);
    MemorySegment header = MemorySegment.ofArray(new byte[16]);

    for (int round = 0; round < 3; round++) {
      for (Pair other : others) {
        assertPasses(other, registered, round, 8);
        assertPasses(other, registered, round, SIZE - 3);
        other.client().sender().stageRegistered(registered, 10, 2000);
        other.client().sender().stageRegistered(header, registered, 20, 1000);
        other.client().sender().flush();
        assertReceives(other, part(10, 2000));
        assertReceives(other, header.toArray(ValueLayout.JAVA_BYTE), part(20, 1000));
      }
      assertPasses(pair, registered, round, 1000);
    }
  }

  @Test
  void memoryOutlivesTheConnectionThatItWasRegisteredWithAndEndsWithTheLastOneThatUsesIt() {
    Pair pair = connect();
    Pair other = connect();
    Pair last = connect();
    Pair late = connect();
    fillRandomly(4);
    RegisteredMemory registered = pair.client().register(memory);
    assertPasses(other, registered, 0, SIZE);
    assertPasses(last, registered, 0, 10);

    pair.client().close();
    assertPasses(other, registered, 1, 1000);
    assertPasses(last, registered, 1, 1000);
    other.client().close();
    assertPasses(last, registered, 2, 1000);
    assertClosed(() -> other.client().sender().sendRegistered(registered, 0, 1000));
    last.client().close();

    assertThatThrownBy(() -> late.client().sender().sendRegistered(registered, 0, 1000))
        .isInstanceOf(IllegalStateException.class);
    registered.close();
    assertPasses(late, late.client().register(memory), 3, 1000);
  }

  @Test
  void memoryThatNoOtherConnectionHasUsedEndsWithItsOwn() {
    Pair pair = connect();
    Pair other = connect();
    RegisteredMemory registered = pair.client().register(memory);

    pair.client().close();

    assertThatThrownBy(() -> other.client().sender().sendRegistered(registered, 0, 1000))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void closingTheRegistrationWaitsForTheMessagesOfAllConnections() {
    Pair pair = connect();
    List<Pair> others = List.of(connect(), connect(), connect());
    MessageStream stream = MessageStream.ofLength(SIZE);

    for (int number = 0; number < 10; number++) {
      RegisteredMemory registered = pair.client().register(memory);
      stream.write(memory, 0, number);
      for (Pair other : others) {
        other.client().sender().sendRegistered(registered, 0, SIZE);
      }
      registered.close();
      memory.fill((byte) -1);
      for (Pair other : others) {
        try (var message = other.server().receiver().receive(PATIENCE)) {
          stream.verify(message.buffer(), message.offset(), message.length(), number);
        }
        assertThatThrownBy(() -> other.client().sender().sendRegistered(registered, 0, SIZE))
            .isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  void theSameMemoryMayBeRegisteredWithSeveralConnectionsAndEachRegistrationEndsAlone() {
    Pair pair = connect();
    Pair other = connect();
    fillRandomly(5);
    RegisteredMemory first = pair.client().register(memory);
    RegisteredMemory second = other.client().register(memory);

    first.close();
    assertThatThrownBy(() -> other.client().sender().sendRegistered(first, 0, 1000))
        .isInstanceOf(IllegalStateException.class);
    assertPasses(other, second, 0, 1000);
    assertPasses(pair, second, 0, 1000);
    other.client().close();
    assertPasses(pair, second, 0, 1000);
  }

  @Test
  void severalThreadsMayCloseTheSameRegistration() {
    Pair pair = connect();
    Pair other = connect();
    MessageStream stream = MessageStream.ofLength(SIZE);

    for (int number = 0; number < 10; number++) {
      RegisteredMemory registered = pair.client().register(memory);
      stream.write(memory, 0, number);
      other.client().sender().sendRegistered(registered, 0, SIZE);
      Background<?> closing = inBackground("closer", () -> registered.close());
      registered.close();
      memory.fill((byte) -1);
      closing.result();
      try (var message = other.server().receiver().receive(PATIENCE)) {
        stream.verify(message.buffer(), message.offset(), message.length(), number);
      }
    }
  }

  @Test
  void memoryOfAnotherProviderIsRefused() {
    Pair pair = connect();
    RegisteredMemory foreign =
        new RegisteredMemory() {
          @Override
          public MemorySegment segment() {
            return memory;
          }

          @Override
          public void close() {}
        };

    assertThatThrownBy(() -> pair.client().sender().sendRegistered(foreign, 0, 1000))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> pair.client().sender().stageRegistered(foreign, 0, 10))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(pair.client().sender().staged()).isZero();
  }

  @Test
  void aClosedRegistrationIsRefusedAndClosingItTwiceDoesNothing() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    RegisteredMemory registered = pair.client().register(memory);

    registered.close();
    registered.close();

    assertThatThrownBy(() -> sender.sendRegistered(registered, 0, 10))
        .isInstanceOf(IllegalStateException.class);
    sender.send(memory, 0, 10);
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(10);
  }

  @Test
  void sendsThatAreUnderWayFinishBeforeTheRegistrationEnds() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(SIZE);

    for (int number = 0; number < 20; number++) {
      RegisteredMemory registered = pair.client().register(memory);
      stream.write(memory, 0, number);
      pair.client().sender().sendRegistered(registered, 0, SIZE);
      registered.close();
      memory.fill((byte) -1);
      try (var message = pair.server().receiver().receive(PATIENCE)) {
        stream.verify(message.buffer(), message.offset(), message.length(), number);
      }
    }
  }

  @Test
  void registrationsEndWithTheirConnectionAndTheMemoryLivesOn() {
    Pair pair = connect();
    RegisteredMemory registered = pair.client().register(memory);
    memory.setString(0, "mine");

    pair.client().close();
    registered.close();

    assertThat(memory.getString(0)).isEqualTo("mine");
    assertClosed(() -> pair.client().register(memory));
    assertClosed(() -> pair.client().sender().sendRegistered(registered, 0, 10));
  }

  @Test
  void memoryMayBeFreedOnceItsRegistrationIsClosed() {
    Pair pair = connect();

    for (int i = 0; i < 200; i++) {
      try (Arena arena = Arena.ofShared();
          RegisteredMemory registered = pair.client().register(arena.allocate(SIZE))) {
        registered.segment().set(ValueLayout.JAVA_INT_UNALIGNED, 0, i);
        pair.client().sender().sendRegistered(registered, 0, 4);
      }
      try (var message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(i);
      }
    }
  }

  private void assertReceives(Pair pair, byte[]... parts) {
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      expected.writeBytes(part);
    }
    try (var message = pair.server().receiver().receive(PATIENCE)) {
      assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
          .isEqualTo(expected.toByteArray());
    }
  }

  private void fillRandomly(int seed) {
    byte[] bytes = new byte[SIZE];
    new Random(seed).nextBytes(bytes);
    memory.copyFrom(MemorySegment.ofArray(bytes));
  }

  private byte[] part(int offset, int length) {
    return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
  }

  @Test
  void aHeaderAndAPayloadArriveAsOneMessageAndTheHeaderMayBeReusedAtOnce() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    RegisteredMemory registered = pair.client().register(memory);
    fillRandomly(1);
    int[][] lengths = {
      {0, 0}, {0, 1}, {1, 0}, {1, 1}, {8, 24}, {0, 3000}, {3000, 0}, {8, SIZE}, {1000, 1000}
    };
    for (int[] each : lengths) {
      for (MemorySegment header :
          List.of(MemorySegment.ofArray(new byte[each[0]]), Arena.ofAuto().allocate(each[0]))) {
        header.fill((byte) 7);
        byte[] expected = header.toArray(ValueLayout.JAVA_BYTE);
        int offset = SIZE - each[1];

        long id = sender.sendRegistered(header, registered, offset, each[1]);
        header.fill((byte) 9);

        assertReceives(pair, expected, part(offset, each[1]));
        sender.await(id);
      }
    }
  }

  @Test
  void aBatchTakesMessagesOfAllKindsInOrder() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    RegisteredMemory registered = pair.client().register(memory);
    fillRandomly(2);
    MemorySegment header = MemorySegment.ofArray(new byte[16]);

    for (int round = 0; round < 3; round++) {
      header.fill((byte) 1);
      sender.stage(header);
      sender.stageRegistered(registered, 10, 2000);
      header.fill((byte) 2);
      sender.stageRegistered(header, registered, 20, 2000);
      header.fill((byte) 3);
      long last = sender.stageRegistered(header, registered, 30, 4);
      header.fill((byte) 4);
      assertThat(sender.staged()).isEqualTo(4);
      assertThat(pair.server().receiver().tryReceive()).isNull();
      sender.await(last);

      assertReceives(pair, filled(1));
      assertReceives(pair, part(10, 2000));
      assertReceives(pair, filled(2), part(20, 2000));
      assertReceives(pair, filled(3), part(30, 4));
    }
    assertThat(sender.staged()).isZero();
  }

  private static byte[] filled(int value) {
    byte[] bytes = new byte[16];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  @Test
  void whatCannotBeGatheredIsRefusedAndStagesNothing() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    RegisteredMemory registered = pair.client().register(memory.asSlice(0, 100));
    RegisteredMemory closed = pair.client().register(memory);
    closed.close();
    MemorySegment header = MemorySegment.ofArray(new byte[8]);
    MemorySegment longest = MemorySegment.ofArray(new byte[sender.maxMessage()]);
    MemorySegment tooLong = MemorySegment.ofArray(new byte[sender.maxMessage() + 1]);

    assertThatThrownBy(() -> sender.sendRegistered(longest, registered, 0, 1))
        .isInstanceOf(MessageTooLongException.class);
    assertThatThrownBy(() -> sender.stageRegistered(tooLong, registered, 0, 0))
        .isInstanceOf(MessageTooLongException.class);
    int[][] outside = {{0, 101}, {100, 1}, {101, 0}, {-1, 10}, {10, -1}};
    for (int[] each : outside) {
      assertThatThrownBy(() -> sender.sendRegistered(header, registered, each[0], each[1]))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> sender.stageRegistered(registered, each[0], each[1]))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThatThrownBy(() -> sender.sendRegistered(header, closed, 0, 10))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sender.stageRegistered(closed, 0, 1000))
        .isInstanceOf(IllegalStateException.class);

    assertThat(sender.staged()).isZero();
    assertThat(sender.sendRegistered(header, registered, 0, 100)).isEqualTo(1);
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(108);
  }

  @Test
  void aHeaderThatCannotBeReadHasNoEffect() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    RegisteredMemory registered = pair.client().register(memory);
    MemorySegment freed;
    try (Arena arena = Arena.ofConfined()) {
      freed = arena.allocate(8);
    }

    for (int i = 0; i < 2000; i++) {
      int length = i % 2 == 0 ? 8 : SIZE;
      assertThatThrownBy(() -> sender.stageRegistered(freed, registered, 0, length))
          .isInstanceOf(IllegalStateException.class);
    }

    assertThat(sender.staged()).isZero();
    sender.sendRegistered(registered, 0, SIZE);
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(SIZE);
    registered.close();
  }

  @Test
  void memoryThatIsFreedWhileRegisteredIsEitherKeptOrNotReadAnyMore() {
    Pair pair = connect();
    Arena arena = Arena.ofShared();
    RegisteredMemory registered = pair.client().register(arena.allocate(SIZE));

    try {
      arena.close();
    } catch (IllegalStateException e) { // the registration keeps it alive
      pair.client().sender().sendRegistered(registered, 0, SIZE);
      assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(SIZE);
      registered.close();
      arena.close();
      return;
    }

    assertThatThrownBy(() -> pair.client().sender().sendRegistered(registered, 0, SIZE))
        .isInstanceOf(IllegalStateException.class);
  }
}
