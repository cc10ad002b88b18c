// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import dev.ferrule.lab.report.Headline;
import dev.ferrule.tools.report.Axis;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The trust in a run of three equal rounds. */
class HeadlinesTest {

  private static final Task TASK =
      new Task() {
        @Override
        public JsonObject description() {
          JsonObject description = new JsonObject();
          description.addProperty("experiment", "latency");
          return description;
        }

        @Override
        public JsonObject run(Workbench bench) {
          throw new UnsupportedOperationException();
        }
      };

  private static JsonObject raw(double load, boolean emulated) {
    JsonObject raw = new JsonObject();
    raw.addProperty("load_1min", load);
    raw.addProperty("emulated", emulated);
    return raw;
  }

  private static Headline headline(double load, boolean emulated, long left) {
    JsonObject machine = new JsonObject();
    machine.add("raw", raw(load, emulated));
    return headline(machine, left);
  }

  private static Headline headline(JsonObject machine, long left) {
    List<Headline> headlines = headlines(Optional.empty(), machine, left);
    assertThat(headlines).hasSize(1);
    return headlines.get(0);
  }

  private static List<Headline> headlines(
      Optional<List<String>> missingPeers, JsonObject machine, long left) {
    Experiment experiment =
        new Experiment(
            "latency",
            "fake",
            "title",
            "text",
            Axis.logarithmic("size", Axis.Unit.BYTES),
            Axis.logarithmic("time", Axis.Unit.NANOS),
            Optional.empty(),
            List.of(Series.measured("p50", 0, Metric.P50, List.of(new Series.Sample(64, TASK)))),
            missingPeers);
    Records records = new Records();
    for (int round = 1; round <= 3; round++) {
      JsonObject result = new JsonObject();
      result.addProperty(Metric.P50.name(), 100);
      records.add(TASK.description(), round, result);
    }
    return Headlines.of(List.of(experiment), records, machine, left);
  }

  @Test
  void figuresOfCompetitorsAreNoHeadlines() {
    JsonObject machine = new JsonObject();
    machine.add("raw", raw(0, false));
    assertThat(headlines(Optional.of(List.of()), machine, 0)).isEmpty();
  }

  @Test
  void aQuietMachineIsTrusted() {
    assertThat(headline(0.5, false, 0).trust()).isEqualTo(Headline.Trust.HIGH);
  }

  @Test
  void aLoadOfAllProcessorsMeansLowTrust() {
    Headline busy = headline(1e6, false, 0);
    assertThat(busy.trust()).isEqualTo(Headline.Trust.LOW);
    assertThat(busy.reasons()).anyMatch(reason -> reason.endsWith("load average 1000000."));
  }

  @Test
  void aBusyHostOfTheServersIsNamed() {
    JsonObject other = new JsonObject();
    other.add("raw", raw(1e6, false));
    JsonObject machine = new JsonObject();
    machine.add("raw", raw(0, false));
    machine.add("host of the servers", other);
    assertThat(headline(machine, 0).reasons())
        .anyMatch(reason -> reason.startsWith("The host of the servers was busy"));
  }

  @ParameterizedTest
  @CsvSource({"64, FAIR", "2, LOW"})
  void aLoadIsComparedWithTheProcessorsOfItsOwnHost(int processors, Headline.Trust trust) {
    JsonObject raw = raw(3, false);
    raw.addProperty("processors", processors);
    JsonObject other = new JsonObject();
    other.add("raw", raw);
    JsonObject machine = new JsonObject();
    machine.add("raw", raw(0, false));
    machine.add("host of the servers", other);
    assertThat(headline(machine, 0).trust()).isEqualTo(trust);
  }

  @Test
  void emulatedProcessorsMeanLowTrust() {
    Headline emulated = headline(0, true, 0);
    assertThat(emulated.trust()).isEqualTo(Headline.Trust.LOW);
    assertThat(emulated.reasons()).anyMatch(reason -> reason.contains("emulated"));
  }

  @Test
  void aPartialReportIsTrustedLess() {
    Headline part = headline(0, false, 1);
    assertThat(part.trust()).isEqualTo(Headline.Trust.FAIR);
    assertThat(part.reasons()).anyMatch(reason -> reason.startsWith("Partial: 1 measurement to"));
  }
}
