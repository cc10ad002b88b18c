// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParameterFileTest {

  private static final String WHOLE =
      "'L':1900,'G':0.08,'g_snd':30,'o_snd':120,'o_nsnd':60,'o_nrcv':70,'o_rcv':50,'g_rcv':16";

  @TempDir private Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("params.json"), text.replace('\'', '"'));
  }

  @Test
  void formattedParametersAreReadAgain() throws IOException {
    Map<Parameter, Estimate> estimates = new EnumMap<>(Parameter.class);
    for (Parameter parameter : Parameter.values()) {
      estimates.put(
          parameter,
          new Estimate(
              parameter,
              1.5 + parameter.ordinal(),
              OptionalDouble.of(0.25),
              OptionalDouble.of(1),
              OptionalDouble.of(20),
              Estimate.Source.FITTED,
              parameter == Parameter.LATENCY ? "a note" : ""));
    }
    List<ParameterFile.Entry> entries =
        List.of(new ParameterFile.Entry("sendrecv", false, estimates, "off by a factor of 1.05"));
    assertThat(ParameterFile.read(file(ParameterFile.format(entries)))).isEqualTo(entries);
  }

  @Test
  void bareNumbersAreAccepted() throws IOException {
    Path file = file("{'providers':[{'provider':'sendrecv','parameters':{" + WHOLE + "}}]}");
    ParameterFile.Entry entry = ParameterFile.read(file).get(0);
    assertThat(entry.acknowledged()).isTrue();
    assertThat(entry.model().latencyNanos(1)).isEqualTo(2200);
    assertThat(entry.estimates().get(Parameter.LATENCY).source()).isEqualTo(Estimate.Source.GIVEN);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "not json | not JSON",
        "{} | no \"providers\"",
        "`` | no \"providers\"",
        "{'providers':[]} | must be a list",
        "{'providers':[{}]} | needs a \"provider\"",
        "{'providers':[{'provider':'x','parameters':{'L':1}}]} | x: missing: G, g_snd, o_snd, o_nsnd,"
            + " o_nrcv, o_rcv, g_rcv; add them, such as",
        "{'providers':[{'provider':'x','parameters':{'l':1}}]} | x: unknown parameter 'l'; known"
            + " are L, G",
        "{'providers':[{'provider':'x','parameters':{'L':-1}}]} | x: L must be a number of ns, at"
            + " least 0, not -1",
        "{'providers':[{'provider':'x','parameters':{'G':'fast'}}]} | x: G must be a number of"
            + " ns/byte",
        "{'providers':[{'provider':'x','parameters':{'L':{}}}]} | x: L must be a number",
        "{'providers':[{'provider':'x','acknowledged':1,'parameters':{}}]} | x: \"acknowledged\""
            + " must be true or false",
      })
  void mistakesAreNamedWithTheFix(String text, String message) throws IOException {
    Path file = file(text);
    assertThatThrownBy(() -> ParameterFile.read(file))
        .isInstanceOf(ToolException.class)
        .hasMessageStartingWith(file + ": ")
        .hasMessageContaining(message);
  }

  @Test
  void aMissingFileIsReported() {
    assertThatThrownBy(() -> ParameterFile.read(folder.resolve("none.json")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("no such file; 'ferrule evaluate");
  }
}
