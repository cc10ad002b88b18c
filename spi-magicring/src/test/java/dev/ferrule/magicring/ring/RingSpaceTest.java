// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the sender's bookkeeping of the ring, and the validation of acknowledgments. */
class RingSpaceTest {

  private static final int PAGE = 4096;
  private static final int WINDOW = 4;

  private final RingSpace magic = new RingSpace(PAGE, Mapping.MAGIC, WINDOW);
  private final RingSpace plain = new RingSpace(PAGE, Mapping.PLAIN, WINDOW);

  private static long send(RingSpace space, int length) {
    assertThat(space.tryReserve(length)).as("space for " + length).isTrue();
    return space.place(length, length);
  }

  @Test
  void shouldReserveTheWholeRingAndNotAByteMore() {
    assertThat(magic.tryReserve(PAGE - 8)).isTrue();
    assertThat(magic.tryReserve(9)).isFalse();
    assertThat(magic.tryReserve(8)).isTrue();
    assertThat(magic.tryReserve(1)).isFalse();
    assertThat(magic.tryReserve(0)).as("an empty message").isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void shouldReserveTheLongestMessageWhereverAnEmptyRingBegins(Mapping mapping) {
    RingSpace space = new RingSpace(PAGE, mapping, 1);
    long messages = 0;
    for (int start = 0; start < PAGE; start += 8) {
      send(space, space.longest());
      assertThat(space.takeAck(++messages, space.ringBytes())).isNull();
      send(space, 8);
      assertThat(space.takeAck(++messages, space.ringBytes())).isNull();
    }
    assertThat(space.isAllBack()).isTrue();
  }

  @Test
  void shouldAllowNoMoreMessagesThanTheWindow() {
    for (int i = 0; i < WINDOW - 1; i++) {
      send(magic, 0);
    }
    assertThat(magic.tryReserve(0)).isTrue();
    assertThat(magic.tryReserve(0)).isFalse();
    magic.unreserve(0, 1);
    assertThat(magic.tryReserve(0)).isTrue();
    magic.place(0, 0);
    assertThat(magic.tryReserve(0)).isFalse();
    assertThat(magic.takeAck(1, 8)).isNull();
    assertThat(magic.tryReserve(0)).isTrue();
  }

  @Test
  void shouldReleaseTheExcessOfAReservation() {
    assertThat(magic.tryReserve(PAGE)).isTrue();
    assertThat(magic.place(PAGE, 9)).isZero();
    assertThat(magic.ringBytes()).isEqualTo(16);
    assertThat(magic.payloadBytes()).isEqualTo(9);
    assertThat(magic.tryReserve(PAGE - 15)).isFalse();
    assertThat(magic.tryReserve(PAGE - 16)).isTrue();
  }

  @Test
  void shouldReserveTheWorstCaseOnlyIfTheMessagesPlaceIsUnknown() {
    assertThat(plain.tryReserve(2048)).isTrue();
    assertThat(plain.tryReserve(8)).as("2 * 2048 - 8 + 8 bytes").isTrue();
    assertThat(plain.tryReserve(8)).isFalse();
    plain.place(8, 8);
    assertThat(plain.place(2048, 2048)).isEqualTo(8);
    assertThat(plain.tryReserve(2048)).as("alone, but does not fit after those sent").isFalse();
    assertThat(plain.tryReserve(2040)).as("alone, so it can only be the next").isTrue();
    assertThat(plain.tryReserve(8)).isFalse();
    assertThat(plain.place(2040, 2040)).isEqualTo(2056);
    assertThat(plain.ringBytes()).isEqualTo(PAGE);
  }

  @Test
  void shouldCountTheBytesSkippedAtTheEndOfAPlainRing() {
    send(plain, 2000);
    send(plain, 2000);
    assertThat(plain.takeAck(2, 4000)).isNull();
    assertThat(send(plain, 100)).isZero();
    assertThat(plain.ringBytes()).isEqualTo(PAGE + 104);
    assertThat(plain.payloadBytes()).isEqualTo(4100);
    assertThat(plain.takeAck(3, 4104)).contains("4104 bytes").contains("took 4200");
    assertThat(plain.takeAck(3, PAGE + 104)).isNull();
    assertThat(plain.isAllBack()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "1, 8, no more than the 1",
    "0, 0, fewer than the 1 before",
    "-1, 8, fewer than the 1 before",
    "-9223372036854775808, 0, fewer than the 1 before",
    "4, 24, only 3 were sent",
    "9223372036854775807, 24, only 3 were sent",
    "3, 16, which took 24",
    "2, 24, which took 16",
    "2, 15, which took 16",
    "2, 17, which took 16",
    "2, -16, which took 16",
    "3, 9223372036854775807, which took 24"
  })
  void shouldRejectAnInvalidAcknowledgment(long messages, long bytes, String objection) {
    for (int i = 0; i < 3; i++) {
      send(magic, 8);
    }
    assertThat(magic.takeAck(1, 8)).isNull();

    assertThat(magic.takeAck(messages, bytes))
        .startsWith("the peer acknowledged ")
        .contains(objection);

    assertThat(magic.takeAck(3, 24)).as("nothing has changed").isNull();
    assertThat(magic.isAllBack()).isTrue();
  }

  @Test
  void shouldAcceptAGoodbyeThatRepeatsOrExtendsTheLastAcknowledgment() {
    assertThat(magic.takeNumbers(0, 0)).isNull();
    send(magic, 8);
    send(magic, 8);
    assertThat(magic.takeAck(1, 8)).isNull();
    assertThat(magic.takeNumbers(1, 8)).isNull();
    assertThat(magic.takeNumbers(1, 16)).contains("which took 8");
    assertThat(magic.takeNumbers(0, 0)).isNotNull();
    assertThat(magic.takeNumbers(3, 24)).isNotNull();
    assertThat(magic.takeNumbers(2, 16)).isNull();
    assertThat(magic.isAllBack()).isTrue();
  }

  @Test
  void shouldAcceptAGoodbyeAfterTheEndOfTheLastAcknowledgedMessageIsOverwritten() {
    RingSpace space = new RingSpace(PAGE, Mapping.MAGIC, 1);
    send(space, 8);
    assertThat(space.takeAck(1, 8)).isNull();
    send(space, 8);
    assertThat(space.takeNumbers(1, 8)).isNull();
    assertThat(space.takeNumbers(2, 16)).isNull();
  }

  @Property(tries = 200)
  void shouldAcceptAnAcknowledgmentIfAndOnlyIfItEndsAtAMessage(
      @ForAll Mapping mapping, @ForAll @IntRange(min = 1, max = 70) int window, @ForAll long seed) {
    Random random = new Random(seed);
    RingSpace space = new RingSpace(3 * PAGE, mapping, window);
    long[] ends = new long[2_001];
    int sent = 0;
    int acked = 0;
    while (sent < 2_000) {
      int length = random.nextInt(random.nextInt(20) == 0 ? space.longest() : 400);
      if (space.tryReserve(length)) {
        space.place(length, length);
        ends[++sent] = space.ringBytes();
      } else {
        assertThat(acked).isLessThan(sent);
        for (int i = 0; i < 3; i++) {
          int messages = Math.max(0, acked - 1 + random.nextInt(sent - acked + 3));
          long bytes = ends[Math.min(sent, random.nextBoolean() ? messages : acked)];
          bytes += random.nextInt(3) == 0 ? 8 : 0;
          boolean right = messages > acked && messages <= sent && bytes == ends[messages];
          assertThat(space.takeAck(messages, bytes) == null).isEqualTo(right);
          acked = right ? messages : acked;
        }
        if (acked < sent) {
          assertThat(space.takeAck(acked + 1, ends[acked + 1])).isNull();
          acked++;
        }
      }
    }
  }

  @Test
  void shouldNotReleaseMoreThanWasReserved() {
    assertThatThrownBy(() -> magic.unreserve(0, 1)).isInstanceOf(IllegalStateException.class);
    magic.tryReserve(8);
    assertThatThrownBy(() -> magic.unreserve(9, 1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> magic.place(8, 9)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> magic.place(8, -1)).isInstanceOf(IllegalArgumentException.class);
    magic.unreserve(8, 1);
    assertThat(magic.tryReserve(PAGE)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, PAGE + 1, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void shouldRejectAMessageThatCanNeverFit(int length) {
    assertThatThrownBy(() -> magic.tryReserve(length))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Integer.toString(length));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 0x8000})
  void shouldRejectAWindowThatTheHelloCannotEncode(int window) {
    assertThatThrownBy(() -> new RingSpace(PAGE, Mapping.MAGIC, window))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldSendNoWantWhileThereIsSpace() {
    send(magic, 8);
    assertThat(magic.isWantDue()).isFalse();
    lackSpace();
    assertThat(magic.isWantDue()).isTrue();
  }

  @Test
  void shouldSendNoWantForSpaceThatThisSideHasReserved() {
    assertThat(magic.tryReserve(PAGE)).isTrue();
    lackSpace();
    assertThat(magic.isWantDue()).isFalse();
  }

  @Test
  void shouldSendAWantForASenderThatLacksSpaceAfterAnotherHasFoundSome() {
    send(magic, 8);
    lackSpace();
    assertThat(magic.tryReserve(8)).isTrue();
    assertThat(magic.isWantDue()).isTrue();
  }

  @Test
  void shouldSendOneWantUntilSomethingIsAcknowledged() {
    send(magic, 8);
    send(magic, 8);
    lackSpace();
    assertThat(magic.isWantDue()).isTrue();
    magic.wantSent();
    assertThat(magic.isWantDue()).isFalse();
    assertThat(magic.takeWants(1)).isNull(); // confirmed by a want that acknowledges nothing
    assertThat(magic.isWantDue()).isFalse();
    assertThat(magic.takeAck(1, 8)).isNull();
    lackSpace();
    assertThat(magic.isWantDue()).isTrue();
  }

  @Test
  void shouldSendNoWantAfterAnAcknowledgmentBeforeSpaceIsLackingAgain() {
    send(magic, 8);
    send(magic, 8);
    lackSpace();
    assertThat(magic.takeAck(1, 8)).isNull();
    assertThat(magic.isWantDue()).isFalse();
    lackSpace();
    assertThat(magic.isWantDue()).isTrue();
  }

  @Test
  void shouldSendNoWantBeforeTheLastOneIsConfirmed() {
    send(magic, 8);
    send(magic, 8);
    lackSpace();
    magic.wantSent();
    assertThat(magic.takeAck(1, 8)).isNull();
    lackSpace();
    assertThat(magic.isWantDue()).isFalse();
    assertThat(magic.takeWants(1)).isNull();
    assertThat(magic.isWantDue()).isTrue();
  }

  private void lackSpace() {
    assertThat(magic.tryReserve(PAGE)).isFalse();
  }
}
