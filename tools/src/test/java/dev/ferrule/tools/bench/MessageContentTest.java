// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class MessageContentTest {

  @Property
  void aMessageMatchesItself(@ForAll @IntRange(max = 300) int size, @ForAll long number) {
    MessageContent content = new MessageContent(Arena.ofAuto(), size);
    content.number(number);
    assertThat(content.matches(content.bytes(), 0, size, number)).isTrue();
    assertThat(content.matchesBetween(content.bytes(), 0)).isTrue();
  }

  @Property
  void aMessageOfAnotherLengthOrNumberDoesNotMatch(
      @ForAll @IntRange(min = 1, max = 300) int size,
      @ForAll @LongRange(min = 0, max = 100) long number) {
    MessageContent content = new MessageContent(Arena.ofAuto(), size);
    content.number(number);
    assertThat(content.matches(content.bytes(), 0, size - 1, number)).isFalse();
    assertThat(content.matches(content.bytes(), 0, size, number + 1)).isFalse();
  }

  @Property
  void everyChangedByteIsFoundByOneOfTheTwoChecks(
      @ForAll @IntRange(min = 16, max = 300) int size,
      @ForAll @IntRange(max = 299) int at,
      @ForAll long number) {
    MessageContent content = new MessageContent(Arena.ofAuto(), size);
    content.number(number);
    MemorySegment received = MemorySegment.ofArray(content.bytes().toArray(ValueLayout.JAVA_BYTE));
    int index = at % size;
    received.set(ValueLayout.JAVA_BYTE, index, (byte) ~received.get(ValueLayout.JAVA_BYTE, index));
    boolean matches =
        content.matches(received, 0, size, number) && content.matchesBetween(received, 0);
    assertThat(matches).isFalse();
  }
}
