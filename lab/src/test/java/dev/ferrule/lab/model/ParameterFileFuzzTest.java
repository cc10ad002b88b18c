// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.support.Fuzzer;
import dev.ferrule.tools.support.ToolException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** The file {@code params.json}, as a user may edit it. */
class ParameterFileFuzzTest {

  private static final Path FILE = Path.of("params.json");

  private static String written() {
    Map<Parameter, Estimate> estimates = new EnumMap<>(Parameter.class);
    for (Parameter parameter : Parameter.values()) {
      estimates.put(
          parameter,
          new Estimate(
              parameter,
              1.5,
              OptionalDouble.of(0.25),
              OptionalDouble.of(1),
              OptionalDouble.of(20),
              parameter == Parameter.LATENCY ? Estimate.Source.AT_MOST : Estimate.Source.FITTED,
              "a note"));
    }
    return ParameterFile.format(
        List.of(new ParameterFile.Entry("sendrecv", false, estimates, "a note")));
  }

  @Test
  void aFileHasValidParametersOrItsFaultIsNamed() {
    new Fuzzer("parameters of the performance model", 2_000)
        .permits(ToolException.class)
        .quotes()
        .allocates(1 << 20) // by the parser
        .text(
            List.of(
                written(),
                """
                {"providers":[{"provider":"sm","parameters":{"L":1900,"G":0.08,"g_snd":30,\
                "o_snd":120,"o_nsnd":60,"o_nrcv":70,"o_rcv":50,"g_rcv":{"value":16}}}]}
                """),
            text -> {
              List<ParameterFile.Entry> entries = ParameterFile.parse(FILE, text);
              assertThat(entries).isNotEmpty();
              for (ParameterFile.Entry entry : entries) {
                assertValid(entry);
              }
              return true;
            });
  }

  private static void assertValid(ParameterFile.Entry entry) {
    assertThat(entry.provider()).isNotNull();
    for (Estimate estimate : entry.estimates().values()) {
      assertThat(estimate.value()).isFinite();
      assertThat(estimate.value() >= 0).as("%s", estimate).isTrue(); // includes -0.0
    }
    assertThat(entry.slowest()).hasSizeLessThanOrEqualTo(entry.estimates().size());
    for (Scenario.Pattern pattern : Scenario.Pattern.values()) {
      Scenario scenario = new Scenario(pattern, 8, new Load(64, 16, 4), 2, 0);
      double rate = Prediction.of(entry.model(), scenario).messagesPerSecond();
      assertThat(rate >= 0).as("%s messages/s", rate).isTrue();
    }
  }
}
