// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ferrule.MessageHandler;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.TreeSet;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Messages of 0 bytes, 1 byte, every length at which a transport may change its mechanism, the
 * maximum length, and one byte more.
 */
public abstract class BoundaryContract extends Contract {

  private static final int LONGEST = 70_000;

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected BoundaryContract(ProviderUnderTest provider) {
    super(provider);
  }

  @ParameterizedTest
  @EnumSource
  void messagesOfEveryBoundaryLengthArrive(NumberedSender.Way way) {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) LONGEST));
    int[] lengths = lengthsOfInterest();
    MessageStream stream = MessageStream.ofLengths(lengths);
    NumberedSender sender = new NumberedSender(pair.client(), stream, LONGEST);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);

    for (int i = 0; i < lengths.length; i++) {
      sender.send(way);
      pair.client().sender().flush();
      receiver.receive(NumberedReceiver.Way.RECEIVE_WITH_TIMEOUT);
    }

    receiver.expectNoMore();
  }

  @ParameterizedTest
  @EnumSource
  void emptyMessagesArriveInOrder(NumberedSender.Way way) {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLengths(0, 0, 0, 1, 0, 0, 200, 0, 64, 0, 0);
    int messages = provider.messages(20_000);

    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              NumberedSender sender = new NumberedSender(pair.client(), stream, 200);
              while (sender.count() < messages) {
                sender.send(way);
              }
              pair.client().sender().flush();
            });
    new NumberedReceiver(pair.server(), stream)
        .receiveAll(messages, NumberedReceiver.Way.RECEIVE, sending);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 8, 63, 64, 65, 1000, 4096, 65_536, MIB - 1, MIB, MIB + 1, 8 * MIB})
  void messagesOfThePeersMaximumSizeArriveManyTimes(int longest) {
    // memory for many of the longest messages takes time, above all on an emulated machine
    Pair pair =
        connect(
            options()
                .set(StandardOptions.MAX_MESSAGE, (long) longest)
                .set(StandardOptions.CONNECT_TIMEOUT, PATIENCE));
    MessageStream stream = MessageStream.ofLength(longest);
    int messages = 30;

    assertThat(pair.client().sender().maxMessage()).isEqualTo(longest);
    assertThat(pair.server().sender().maxMessage()).isEqualTo(longest);
    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              NumberedSender sender = new NumberedSender(pair.client(), stream, longest);
              NumberedSender.Way[] ways = NumberedSender.Way.values();
              for (int i = 0; i < messages; i++) {
                sender.send(ways[i % ways.length]);
              }
              pair.client().sender().flush();
            });
    new NumberedReceiver(pair.server(), stream)
        .receiveAll(messages, NumberedReceiver.Way.RECEIVE, sending);
  }

  @Test
  void eachSideSetsItsMaximumMessageSize() {
    Pair pair =
        connect(
            options().set(StandardOptions.MAX_MESSAGE, 100L).build(),
            options().set(StandardOptions.MAX_MESSAGE, 3_000L).build());

    assertThat(pair.client().sender().maxMessage()).isEqualTo(3_000);
    assertThat(pair.server().sender().maxMessage()).isEqualTo(100);
    pair.client().sender().send(MemorySegment.ofArray(new byte[3_000]));
    pair.server().sender().send(MemorySegment.ofArray(new byte[100]));
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(3_000);
    assertThat(pair.client().receiver().receive(PATIENCE).length()).isEqualTo(100);
    assertThatThrownBy(() -> pair.server().sender().claim(101))
        .isInstanceOf(MessageTooLongException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 64, 4096, MIB})
  void oneByteMoreThanTheLongestIsRefusedAndHarmsNothing(int longest) {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) longest));
    Sender sender = pair.client().sender();
    MemorySegment source = Arena.ofAuto().allocate(longest + 1L);
    RegisteredMemory registered = pair.client().register(source);
    int tooLong = longest + 1;

    assertTooLong(() -> sender.claim(tooLong), tooLong, longest);
    assertTooLong(() -> sender.claim(tooLong, PATIENCE), tooLong, longest);
    assertTooLong(() -> sender.tryClaim(tooLong), tooLong, longest);
    assertTooLong(() -> sender.claim(Integer.MAX_VALUE), Integer.MAX_VALUE, longest);
    assertTooLong(() -> sender.send(source), tooLong, longest);
    assertTooLong(() -> sender.send(source, 0, tooLong), tooLong, longest);
    assertTooLong(() -> sender.sendRegistered(registered, 0, tooLong), tooLong, longest);
    assertTooLong(() -> sender.stage(source), tooLong, longest);
    assertTooLong(() -> sender.stage(source, 0, tooLong), tooLong, longest);
    assertThat(sender.staged()).isZero();

    MessageStream stream = MessageStream.ofLength(longest);
    new NumberedSender(pair.client(), stream, longest).send(NumberedSender.Way.CLAIM);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receive(NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(1);
  }

  @Test
  void aLengthBeyondIntIsRefusedInsteadOfTruncated(@TempDir Path directory) throws IOException {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    int longest = sender.maxMessage();
    long huge = (1L << 32) + 8; // as an int: 8
    Path sparse = directory.resolve("sparse");

    try (FileChannel file =
        FileChannel.open(
            sparse, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.allocate(1), huge - 1);
      MemorySegment segment = file.map(FileChannel.MapMode.READ_ONLY, 0, huge, Arena.ofAuto());
      assertTooLong(() -> sender.send(segment), huge, longest);
      assertTooLong(() -> sender.send(segment, 0, huge), huge, longest);
    } finally {
      Files.delete(sparse);
    }

    assertThat(pair.client().counters().messagesSent()).isZero();
  }

  @Test
  void aNegativeLengthIsRefused() {
    Pair pair = connect();
    Sender sender = pair.client().sender();

    for (int length : new int[] {-1, -64, Integer.MIN_VALUE}) {
      assertThatThrownBy(() -> sender.claim(length)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> sender.claim(length, PATIENCE))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> sender.tryClaim(length))
          .isInstanceOf(IllegalArgumentException.class);
    }

    sender.send(MemorySegment.ofArray(new byte[5]));
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(5);
  }

  @Test
  void aClaimMayBeSentShorterDownToNothingButNotLonger() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MessageStream stream = MessageStream.ofLength(100);

    SendRegion region = sender.claim(100);
    stream.write(region.buffer(), region.offset(), 0);
    assertThatThrownBy(() -> region.commit(101)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> region.commit(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> region.stage(101)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> region.stage(-1)).isInstanceOf(IllegalArgumentException.class);
    region.commit(100);
    for (int length : new int[] {0, 1, 63, 64, 65, 99}) {
      sender.claim(100).commit(length);
    }

    for (int length : new int[] {100, 0, 1, 63, 64, 65, 99}) {
      assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(length);
    }
    new NumberedReceiver(pair.server(), stream).expectNoMore();
  }

  private static void assertTooLong(ThrowingCallable call, long length, int longest) {
    MessageTooLongException thrown = catchThrowableOfType(MessageTooLongException.class, call);
    assertThat(thrown).as("exception").isNotNull();
    assertThat(thrown.length()).isEqualTo(length);
    assertThat(thrown.maxMessage()).isEqualTo(longest);
    assertThat(thrown)
        .hasMessageContaining(String.valueOf(length))
        .hasMessageContaining(String.valueOf(longest));
    assertThat(thrown.uri()).isNotNull();
  }

  /** Returns all short lengths and, for each power of two, one less, the power and one more. */
  private static int[] lengthsOfInterest() {
    TreeSet<Integer> lengths = new TreeSet<>();
    for (int length = 0; length <= 260; length++) {
      lengths.add(length);
    }
    for (int power = 512; power < LONGEST; power *= 2) {
      for (int length = power - 2; length <= power + 2; length++) {
        lengths.add(length);
      }
      lengths.add(power - 64);
      lengths.add(power + 64);
    }
    lengths.add(LONGEST - 1);
    lengths.add(LONGEST);
    return lengths.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Aligned accesses throw where the memory is not aligned. */
  @Test
  void theMemoryOfRegionsAndHandlersIsAlignedToEightBytes() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    Receiver receiver = pair.server().receiver();
    int[] lengths = {8, 9, 15, 16, 23, 100, 1_001, 2_000};
    for (int round = 0; round < 50; round++) {
      for (int first : lengths) {
        int second = lengths[round % lengths.length];
        SendRegion one = sender.claim(first, PATIENCE);
        SendRegion other = sender.claim(second, PATIENCE);
        write(one, round);
        write(other, round);
        other.commit();
        one.commit();

        ReceiveRegion held = receiver.receive(PATIENCE);
        assertThat(held.buffer().get(ValueLayout.JAVA_LONG, held.offset())).isEqualTo(round);
        if (round % 2 == 0) {
          ReceiveRegion next = receiver.receive(PATIENCE);
          assertThat(next.buffer().get(ValueLayout.JAVA_DOUBLE, next.offset()))
              .isEqualTo(Double.longBitsToDouble(round));
          next.close();
        } else {
          long expected = round;
          MessageHandler handler =
              (memory, offset, length) ->
                  assertThat(memory.get(ValueLayout.JAVA_LONG, offset)).isEqualTo(expected);
          while (receiver.poll(handler, 1) == 0) {
            idle();
          }
        }
        held.close();
      }
    }
  }

  /** How two messages are sent, one behind the other. */
  private enum Sending {
    IN_PLACE,
    IN_REVERSE,
    COPIED,
    STAGED,
    STAGED_COPIES
  }

  /** A message of any length precedes one of whole words, which are accessed as such. */
  @ParameterizedTest
  @EnumSource
  void everyWordOfAMessageIsAlignedWhateverWasSentBefore(Sending way) {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    Receiver receiver = pair.server().receiver();
    int[] words = {1, 2, 5, 9, 125, 512, 513, 1_001};
    int[] others = {63, 65, 1_001, 4_095, 4_096, 4_097, 5_003, 8_193};
    long number = 0;
    for (int i = 0; i < 18 + others.length; i++) {
      int before = i < 18 ? i : others[i - 18];
      for (int count : words) {
        long value = number++;
        sendTwo(sender, way, before, count, value);
        boolean polls = value % 3 == 0;
        boolean reversed = way == Sending.IN_REVERSE;
        for (boolean ofWords : new boolean[] {reversed, !reversed}) {
          int length = ofWords ? count * Long.BYTES : before;
          MessageHandler handler =
              (buffer, offset, received) -> {
                assertThat(received).isEqualTo(length);
                checkAligned(buffer, offset, received);
                if (ofWords) {
                  checkWords(buffer, offset, received, value);
                }
              };
          checkNext(receiver, handler, polls);
        }
      }
    }
  }

  private static void sendTwo(Sender sender, Sending way, int before, int words, long value) {
    int length = words * Long.BYTES;
    if (way == Sending.COPIED || way == Sending.STAGED_COPIES) {
      MemorySegment message = Arena.ofAuto().allocate(length, Long.BYTES);
      writeWords(message, 0, length, value);
      MemorySegment first = MemorySegment.ofArray(new byte[before]);
      if (way == Sending.COPIED) {
        sender.send(first);
        sender.send(message);
      } else {
        sender.stage(first);
        sender.stage(message);
        sender.flush();
      }
      return;
    }
    SendRegion one = sender.claim(before, PATIENCE);
    SendRegion other = sender.claim(length, PATIENCE);
    checkAligned(one.buffer(), one.offset(), before);
    checkAligned(other.buffer(), other.offset(), length);
    writeWords(other.buffer(), other.offset(), length, value);
    if (way == Sending.STAGED) {
      one.stage();
      other.stage();
      sender.flush();
    } else {
      boolean reversed = way == Sending.IN_REVERSE;
      (reversed ? other : one).commit();
      (reversed ? one : other).commit();
    }
  }

  private static void checkNext(Receiver receiver, MessageHandler handler, boolean polls) {
    if (polls) {
      while (receiver.poll(handler, 1) == 0) {
        idle();
      }
      return;
    }
    try (ReceiveRegion message = receiver.receive(PATIENCE)) {
      handler.onMessage(message.buffer(), message.offset(), message.length());
      ByteBuffer bytes = message.segment().asByteBuffer();
      assertThat(bytes.alignmentOffset(0, Long.BYTES)).isZero();
      handler.onMessage(message.segment(), 0, message.length());
    }
  }

  private static void checkAligned(MemorySegment buffer, long offset, int length) {
    assertThat((buffer.address() + offset) % Long.BYTES).as("%s bytes", length).isZero();
  }

  /** Writes longs and doubles, in turns. Aligned layouts throw where the address is not aligned. */
  private static void writeWords(MemorySegment target, long offset, int length, long value) {
    for (int i = 0; i < length; i += 2 * Long.BYTES) {
      target.set(ValueLayout.JAVA_LONG, offset + i, value);
      if (i + Long.BYTES < length) {
        target.set(ValueLayout.JAVA_DOUBLE, offset + i + Long.BYTES, value);
      }
    }
  }

  private static void checkWords(MemorySegment source, long offset, int length, long value) {
    for (int i = 0; i < length; i += 2 * Long.BYTES) {
      assertThat(source.get(ValueLayout.JAVA_LONG, offset + i)).isEqualTo(value);
      if (i + Long.BYTES < length) {
        assertThat(source.get(ValueLayout.JAVA_DOUBLE, offset + i + Long.BYTES)).isEqualTo(value);
      }
    }
  }

  private static void write(SendRegion region, long value) {
    region.buffer().set(ValueLayout.JAVA_LONG, region.offset(), value);
    region.segment().set(ValueLayout.JAVA_DOUBLE, 0, Double.longBitsToDouble(value));
  }
}
