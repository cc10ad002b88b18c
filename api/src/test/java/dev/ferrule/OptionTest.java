// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptionTest {

  private static final Option<Integer> COUNT = Option.count("slots", 1, 1000, 16, "how many slots");
  private static final Option<Long> SIZE =
      Option.size("buffer", 0, 1L << 40, 1L << 20, "how long the buffer is");
  private static final Option<Duration> TIME =
      Option.duration(
          "patience",
          Duration.ZERO,
          Duration.ofDays(1_000),
          Duration.ofSeconds(5),
          "how long to wait");
  private static final Option<Boolean> FLAG = Option.flag("shared", false, "whether it is shared");
  private static final Option<WaitStrategy> CHOICE =
      Option.choice("wait", WaitStrategy.class, WaitStrategy.ADAPTIVE, "how to wait");

  enum Oddity {
    PLAIN,
    WITH_TWO_WORDS
  }

  @Property
  void everyCountInRangeSurvivesARoundTrip(@ForAll @IntRange(min = 1, max = 1000) int value) {
    assertThat(COUNT.parse(COUNT.format(value))).isEqualTo(value);
  }

  @Property
  void everyCountOutOfRangeIsRefused(@ForAll int value) {
    if (value < 1 || value > 1000) {
      assertThatThrownBy(() -> COUNT.parse(String.valueOf(value)))
          .isInstanceOf(InvalidOptionException.class);
      assertThatThrownBy(() -> COUNT.check(value)).isInstanceOf(InvalidOptionException.class);
    } else {
      assertThat(COUNT.check(value)).isEqualTo(value);
    }
  }

  @Property
  void everySizeInRangeSurvivesARoundTrip(@ForAll @LongRange(min = 0, max = 1L << 40) long value) {
    assertThat(SIZE.parse(SIZE.format(value))).isEqualTo(value);
  }

  @Property
  void everyDurationInRangeSurvivesARoundTrip(
      @ForAll @LongRange(min = 0, max = 86_400_000 - 1) long seconds,
      @ForAll @IntRange(max = 999_999_999) int nanos) {
    Duration value = Duration.ofSeconds(seconds, nanos);
    assertThat(TIME.parse(TIME.format(value))).isEqualTo(value);
  }

  @Property
  void parsingThrowsNoOtherException(@ForAll String text) {
    for (Option<?> option : new Option<?>[] {COUNT, SIZE, TIME, FLAG, CHOICE}) {
      try {
        assertThat(option.parse(text)).isInstanceOf(option.defaultValue().orElseThrow().getClass());
      } catch (InvalidOptionException e) {
        assertThat(e).hasMessageContaining(option.name());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1",
    "65536, 65536",
    "17B, 17",
    "64KiB, 65536",
    "64K, 65536",
    "64 KiB, 65536",
    "1MiB, 1048576",
    "3M, 3145728",
    "2GiB, 2147483648",
    "1G, 1073741824",
    "1TiB, 1099511627776",
    "1T, 1099511627776"
  })
  void sizesMayHaveAUnit(String text, long bytes) {
    assertThat(SIZE.parse(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "-1",
        "1.5",
        "KiB",
        "64KB",
        "64kib",
        "2TiB",
        "1048577MiB",
        "99999999999999999999",
        "999999999999999999GiB",
        "0x10",
        "1 2"
      })
  void aMalformedSizeIsRefused(String text) {
    assertThatThrownBy(() -> SIZE.parse(text))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessage("option buffer=" + text + " is not valid: buffer is " + SIZE.syntax());
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "0s, 0",
    "7ns, 7",
    "7us, 7000",
    "250ms, 250000000",
    "5s, 5000000000",
    "2m, 120000000000",
    "1h, 3600000000000"
  })
  void durationsHaveAUnit(String text, long nanos) {
    assertThat(TIME.parse(text)).isEqualTo(Duration.ofNanos(nanos));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "5",
        "-5s",
        "1.5s",
        "s",
        "5 minutes",
        "5d",
        "99999999999999s",
        "999999999999999h",
        "9999999999999999999ns"
      })
  void aMalformedDurationIsRefused(String text) {
    assertThatThrownBy(() -> TIME.parse(text))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("patience=" + text)
        .hasMessageContaining(TIME.syntax());
  }

  @ParameterizedTest
  @CsvSource({
    "true, true",
    "on, true",
    "yes, true",
    "'', true",
    "TRUE, true",
    "false, false",
    "off, false",
    "no, false",
    "False, false"
  })
  void flagsAreOnOrOff(String text, boolean value) {
    assertThat(FLAG.parse(text)).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "maybe", "tru", "nope"})
  void aMalformedFlagIsRefused(String text) {
    assertThatThrownBy(() -> FLAG.parse(text))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("one of on, off");
  }

  @ParameterizedTest
  @EnumSource
  void choicesSurviveARoundTrip(Oddity value) {
    Option<Oddity> option = Option.choice("oddity", Oddity.class, Oddity.PLAIN, "how odd");

    assertThat(option.parse(option.format(value))).isEqualTo(value);
    assertThat(option.format(Oddity.WITH_TWO_WORDS)).isEqualTo("with-two-words");
  }

  @Test
  void choicesAreWrittenInLowerCaseAndReadInAny() {
    assertThat(CHOICE.format(WaitStrategy.SPIN)).isEqualTo("spin");
    assertThat(CHOICE.parse("Spin")).isEqualTo(WaitStrategy.SPIN);
    assertThat(CHOICE.parse(" SPIN ")).isEqualTo(WaitStrategy.SPIN);
  }

  @Test
  void anUnknownChoiceIsRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> CHOICE.parse("sleep"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("wait=sleep")
        .hasMessageContaining("spin, adaptive, block");
  }

  @Test
  void anOptionDescribesItself() {
    assertThat(COUNT.name()).isEqualTo("slots");
    assertThat(COUNT.defaultValue()).hasValue(16);
    assertThat(COUNT.description()).isEqualTo("how many slots");
    assertThat(COUNT).hasToString("slots (a whole number from 1 to 1000; default 16)");
    assertThat(SIZE)
        .hasToString("buffer (a size from 0 to 1TiB, such as 65536, 64KiB or 1MiB; default 1MiB)");
    assertThat(TIME)
        .hasToString("patience (a time from 0 to 24000h, such as 250ms, 5s or 2m; default 5s)");
    assertThat(FLAG).hasToString("shared (one of on, off; default off)");
    assertThat(CHOICE).hasToString("wait (one of spin, adaptive, block; default adaptive)");
  }

  @Test
  void anOptionWhoseDefaultDependsOnTheProviderHasNone() {
    assertThat(StandardOptions.MAX_MESSAGE.defaultValue()).isEmpty();
    assertThat(StandardOptions.MAX_MESSAGE.defaultText()).isEmpty();
    assertThat(StandardOptions.PEER_TIMEOUT)
        .hasToString("peerTimeout (a time from 0 to 24h, such as 250ms, 5s or 2m)");
  }

  @Test
  void anOptionSaysWhetherAQueryMayOverrideIt() {
    assertThat(COUNT.queryOverrides()).isTrue();
    Option<Integer> ofSecurity = COUNT.withoutQueryOverride();
    assertThat(ofSecurity.queryOverrides()).isFalse();
    assertThat(ofSecurity.withDefault(3).queryOverrides()).isFalse();
    assertThat(ofSecurity.defaultValue()).hasValue(16);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1500, 1500ns",
    "2000000, 2ms",
    "1500000000, 1500ms",
    "60000000000, 1m",
    "61000000000, 61s",
    "7200000000000, 2h"
  })
  void durationsAreFormattedInTheLargestExactUnit(long nanos, String text) {
    assertThat(TIME.format(Duration.ofNanos(nanos))).isEqualTo(text);
  }

  @Test
  void theDefaultsOfTheStandardOptionsAreValid() {
    assertThat(StandardOptions.all())
        .allSatisfy(option ->
            assertThat(
                    option.defaultValue().map(value -> (Object) option.parse(option.defaultText())))
                .isEqualTo(option.defaultValue()));
    assertThat(StandardOptions.all()).extracting(Option::name).doesNotHaveDuplicates();
  }
}
