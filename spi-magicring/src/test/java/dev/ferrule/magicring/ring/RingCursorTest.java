// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.magicring.wire.RingOffer;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RingCursorTest {

  private static final int PAGE = 4096;

  @Test
  void shouldLetAMessageCrossTheEndOfAMagicRing() {
    RingCursor cursor = new RingCursor(PAGE, Mapping.MAGIC);
    cursor.advance(4000);

    assertThat(cursor.paddingFor(1000)).isZero();
    assertThat(cursor.advance(1000)).isEqualTo(4000);
    assertThat(cursor.position()).isEqualTo(5000);
    assertThat(cursor.offset()).isEqualTo(5000 - PAGE);
  }

  @Test
  void shouldSkipTheRestOfAPlainRingIfTheMessageDoesNotFit() {
    RingCursor cursor = new RingCursor(PAGE, Mapping.PLAIN);
    cursor.advance(2000);
    cursor.advance(2000);

    assertThat(cursor.paddingFor(96)).isZero();
    assertThat(cursor.paddingFor(97)).isEqualTo(96);
    assertThat(cursor.costOf(97)).isEqualTo(96 + 104);
    assertThat(cursor.advance(97)).isZero();
    assertThat(cursor.position()).isEqualTo(PAGE + 104);
    assertThat(cursor.offset()).isEqualTo(104);
  }

  @Test
  void shouldWrapAroundWhenAMessageEndsAtTheEndOfTheRing() {
    for (Mapping mapping : Mapping.values()) {
      RingCursor cursor = new RingCursor(PAGE, mapping);
      cursor.advance(2048);
      assertThat(cursor.advance(2045)).isEqualTo(2048);
      assertThat(cursor.offset()).isZero();
      assertThat(cursor.paddingFor(2048)).isZero();
      assertThat(cursor.position()).isEqualTo(PAGE);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldTakeAsMuchForAnEmptyMessageAsForTheShortest(Mapping mapping) {
    RingCursor cursor = new RingCursor(PAGE, mapping);
    cursor.advance(2048);
    cursor.advance(2040);

    assertThat(cursor.advance(0)).isEqualTo(PAGE - 8);
    assertThat(cursor.position()).isEqualTo(PAGE);
    assertThat(mapping.worstCase(0)).isEqualTo(mapping.worstCase(1));
  }

  @Test
  void shouldTakeTheWholeMagicRingForOneMessage() {
    RingCursor cursor = new RingCursor(3 * PAGE, Mapping.MAGIC);
    cursor.advance(8);

    assertThat(cursor.advance(3 * PAGE)).isEqualTo(8);
    assertThat(cursor.offset()).isEqualTo(8);
  }

  @Test
  void shouldRoundUpTheLongestMessage() {
    assertThat(RingCursor.rounded(RingOffer.MAX_MESSAGE)).isEqualTo(1L << 30);
    assertThat(RingCursor.rounded(RingOffer.MAX_MESSAGE - 1)).isEqualTo(1L << 30);
    assertThat(RingCursor.rounded(Integer.MAX_VALUE)).isEqualTo(1L << 31);
    assertThat(Mapping.PLAIN.worstCase(RingOffer.MAX_MESSAGE)).isEqualTo((1L << 31) - 8);
    assertThat(Mapping.MAGIC.longest(1L << 40)).isEqualTo(RingOffer.MAX_MESSAGE);
    assertThat(Mapping.PLAIN.longest(1L << 31)).isEqualTo(RingOffer.MAX_MESSAGE);
    assertThat(Mapping.PLAIN.longest(1L << 30)).isEqualTo(1 << 29);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -4096, 1, 4095, 4097, 6144, 1L << 44, Long.MIN_VALUE})
  void shouldRejectASizeThatTheHelloCannotEncode(long size) {
    assertThatThrownBy(() -> new RingCursor(size, Mapping.MAGIC))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Long.toString(size));
  }

  @Property(tries = 300)
  void shouldMatchTheResultOfADivision(
      @ForAll Mapping mapping, @ForAll @IntRange(min = 1, max = 9) int pages, @ForAll long seed) {
    long size = (long) pages * PAGE;
    Random random = new Random(seed);
    RingCursor cursor = new RingCursor(size, mapping);
    int longest = mapping.longest(size);
    long position = 0;
    for (int step = 0; step < 2_000; step++) {
      int length = random.nextInt(random.nextBoolean() ? 64 : longest + 1);
      long taken = Math.max(1, (length + 7) / 8) * 8;
      long left = size - position % size;
      long before = position;
      if (mapping == Mapping.PLAIN && taken > left) {
        position += left;
      }
      long start = position % size;
      position += taken;

      assertThat(cursor.costOf(length)).isEqualTo(position - before);
      assertThat(cursor.costOf(length)).isLessThanOrEqualTo(mapping.worstCase(length));
      assertThat(cursor.costOf(random.nextInt(length + 1))).isLessThanOrEqualTo(position - before);
      assertThat(cursor.advance(length)).isEqualTo(start).isEqualTo(start / 8 * 8);
      assertThat(cursor.position()).isEqualTo(position);
      assertThat(cursor.offset()).isEqualTo(position % size);
    }
    assertThat(mapping.worstCase(longest)).isLessThanOrEqualTo(size);
  }
}
