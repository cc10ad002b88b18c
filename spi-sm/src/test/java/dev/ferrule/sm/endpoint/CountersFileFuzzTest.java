// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.support.Fuzzer;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The text of a file of counters, as any process of the user may write it. */
class CountersFileFuzzTest {

  private static final String LINE = "17 4567/1#23 1 2 3 4 5 6 7 8 9 0.250\n";

  @Test
  void aTextIsReadAsAWholeOrNotAtAll() {
    new Fuzzer("counters of sm", 10_000)
        .text(
            List.of(
                "counters 1 12345\n",
                "counters 1 -12345\n" + LINE,
                "counters 1 12345\n"
                    + LINE
                    + "18 1/2#24 0 0 0 0 0 0 0 0 9223372036854775807 1.000\n"),
            text -> {
              Optional<CountersFile> read = CountersFile.parse(text);
              read.ifPresent(counters -> {
                assertThat(counters.samples()).hasSize((int) text.lines().count() - 1);
                assertThat(counters.samples())
                    .allSatisfy(sample -> {
                      assertThat(sample.number()).isNotNegative();
                      assertThat(sample.peer()).matches("[0-9]+/[0-9]+#[0-9]+");
                      assertThat(sample.sendFill()).isBetween(0.0, 1.0);
                    });
              });
              return read.isPresent();
            });
  }
}
