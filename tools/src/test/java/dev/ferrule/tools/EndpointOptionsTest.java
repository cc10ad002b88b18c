// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.tools.support.ToolException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointOptionsTest {

  @Test
  void theVariableHasOptionsSeparatedBySpaces() {
    assertThat(EndpointOptions.defaults("  wait=block\tsm.ring=64KiB  a=b=c \n"))
        .containsExactly(
            Map.entry("wait", "block"), Map.entry("sm.ring", "64KiB"), Map.entry("a", "b=c"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "\t\n"})
  void anEmptyVariableHasNoOptions(String text) {
    assertThat(EndpointOptions.defaults(text)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"wait, wait", "wait=block =4, =4"})
  void aWordThatIsNoOptionIsNamed(String text, String word) {
    assertThatThrownBy(() -> EndpointOptions.defaults(text))
        .isInstanceOf(ToolException.class)
        .hasMessage(
            "the environment variable FERRULE_OPTIONS: '%s' is not NAME=VALUE; separate options by"
                + " spaces",
            word);
  }

  @Test
  void aCommandThatStartsAServerNamesTheVariable(@TempDir Path folder) throws Exception {
    try (FerruleProcess process =
        FerruleProcess.startIn(Map.of("FERRULE_OPTIONS", "wait=fast"), folder, "latency")) {
      assertThat(process.mustEndWith(2).errors())
          .startsWith(
              "ferrule: the environment variable FERRULE_OPTIONS: option wait=fast is not valid");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "wait=no, '', 'the environment variable FERRULE_OPTIONS: sm://.+: option wait=no is not valid'",
    "sm.ring=1, '', 'the environment variable FERRULE_OPTIONS: sm://.+: option ring=1 is not'",
    "colour=red, '', 'the environment variable FERRULE_OPTIONS: sm://.+: unknown option .colour'",
    "wait=no, wait=nor, 'sm://.+: option wait=nor is not valid'",
    "wait, '', the environment variable FERRULE_OPTIONS: 'wait'"
  })
  void anOptionOfTheCommandLineOverridesTheVariable(
      String variable, String option, String expected, @TempDir Path folder) throws Exception {
    List<String> words = new ArrayList<>(List.of("send", "sm://" + folder, "/dev/null"));
    if (!option.isEmpty()) {
      words.addAll(1, List.of("-o", option));
    }
    try (FerruleProcess process =
        FerruleProcess.startIn(
            Map.of("FERRULE_OPTIONS", variable), folder, words.toArray(String[]::new))) {
      assertThat(process.mustEndWith(2).errors()).containsPattern("^ferrule: " + expected);
    }
  }
}
