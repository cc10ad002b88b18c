// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.tools.support.Affinity;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class PinningTest {

  /** Returns a pinning with processors that throws when one of them is requested. */
  static Pinning failing() {
    return new Pinning(
        new AbstractList<>() {
          @Override
          public Integer get(int index) {
            throw new IllegalStateException("injected by the test");
          }

          @Override
          public int size() {
            return 4;
          }
        });
  }

  @Test
  void theClientAndTheFirstServerNeverShareAProcessor() {
    for (List<Integer> cpus : List.of(List.of(0, 1), List.of(2, 5, 7), List.of(0, 1, 2, 3))) {
      Pinning pinning = new Pinning(cpus);
      assertThat(pinning.client(0).getAsInt()).isNotEqualTo(pinning.server(0).getAsInt());
      for (int index = 0; index < cpus.size() - 1; index++) {
        assertThat(cpus).contains(pinning.server(index).getAsInt());
        assertThat(pinning.server(index)).isNotEqualTo(pinning.client(0));
      }
    }
  }

  @Test
  void severalThreadsSpreadOverTheProcessorsAndNeverShareOne() {
    Pinning pinning = new Pinning(List.of(0, 1, 2, 3));
    assertThat(pinning.server(0)).hasValue(3);
    assertThat(pinning.server(1)).hasValue(2);
    assertThat(pinning.server(2)).hasValue(1);
    assertThat(pinning.server(3)).isEmpty();
    assertThat(pinning.client(0)).hasValue(0);
    assertThat(pinning.client(3)).hasValue(3);
    assertThat(pinning.client(4)).isEmpty();
  }

  @Test
  void thereIsRoomForAsManyThreadsAsThereAreProcessors() {
    assertThat(new Pinning(List.of(0, 3, 4)).hasRoomFor(3)).isTrue();
    assertThat(new Pinning(List.of(0, 3, 4)).hasRoomFor(4)).isFalse();
    assertThat(Pinning.OFF.hasRoomFor(1)).isFalse();
  }

  @Test
  void withoutTwoProcessorsThereIsNoPinning() {
    assertThat(Pinning.OFF.client(0)).isEmpty();
    assertThat(Pinning.OFF.server(0)).isEmpty();
  }

  @Test
  void workRunsOnTheProcessorItIsPinnedToAndTheCallerIsNotPinned() {
    List<Integer> before = Affinity.allowed();
    int last = before.get(before.size() - 1);
    List<String> problems = new ArrayList<>();
    List<Integer> during = Pinning.call(OptionalInt.of(last), problems::add, Affinity::allowed);
    assertThat(during).containsExactly(last);
    assertThat(problems).isEmpty();
    assertThat(Affinity.allowed()).isEqualTo(before);
  }

  @Test
  void aMissingProcessorIsReportedOnceAndTheWorkIsDone() {
    List<String> problems = new ArrayList<>();
    assertThat(Pinning.call(OptionalInt.of(1023), problems::add, () -> "done")).isEqualTo("done");
    assertThat(problems).hasSize(1).first().asString().contains("CPU 1023");
  }

  @Test
  void aFailureOfTheWorkIsThrownToTheCaller() {
    assertThatThrownBy(() ->
            Pinning.call(
                OptionalInt.empty(),
                problem -> {},
                () -> {
                  throw new IllegalArgumentException("mine");
                }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("mine");
  }
}
