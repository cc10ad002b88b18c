// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.evaluate.Catalogue;
import dev.ferrule.lab.evaluate.Effort;
import dev.ferrule.lab.evaluate.Evaluation;
import dev.ferrule.lab.evaluate.Experiment;
import dev.ferrule.lab.evaluate.Servers;
import dev.ferrule.lab.model.Processors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whole experiments of {@code evaluate --quick} on a device, with servers in this process; {@link
 * TwoHostsEvaluationTest} runs the command itself.
 */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExperimentsTest {

  private static final int MESSAGES = 300;
  private static final int FEW = 20;

  /** The least number of messages that {@link Effort} sends to a receiver that may be too slow. */
  private static final int OVERRUN_MESSAGES = 640;

  @TempDir private Path folder;

  private static List<Experiment> experiments(String scheme, boolean quick) {
    ProviderInfo provider =
        Ferrule.providers().stream()
            .filter(candidate -> candidate.scheme().equals(scheme))
            .findFirst()
            .orElseThrow();
    return new Catalogue(
            provider, quick, Processors.ofOneHost(Runtime.getRuntime().availableProcessors()))
        .experiments().stream().filter(experiment -> experiment.obstacle().isEmpty()).toList();
  }

  private List<JsonObject> run(String id) throws IOException {
    List<Experiment> all = experiments("sendrecv", true);
    List<Experiment> chosen =
        all.stream().filter(experiment -> experiment.id().equals(id)).toList();
    return run("sendrecv", all, chosen, MESSAGES);
  }

  /** Runs experiments, and returns their points with their results. */
  private List<JsonObject> run(
      String provider, List<Experiment> all, List<Experiment> chosen, int messages)
      throws IOException {
    List<String> problems = new ArrayList<>();
    Servers servers = (scheme, settings, lines) -> Serving.start(provider, settings.arguments());
    Evaluation.Outcome outcome =
        new Evaluation(
                folder,
                new Effort(true, 1, OptionalLong.of(messages)),
                List.of(provider),
                Set.of(provider),
                all,
                "this test")
            .run(
                chosen.stream().map(Experiment::id).collect(Collectors.toSet()),
                servers,
                problems::add);

    assertThat(outcome.failures()).as("%s", problems).isEmpty();
    assertThat(outcome.report()).isNotEmptyFile();
    JsonObject file =
        new Gson().fromJson(Files.readString(folder.resolve("results.json")), JsonObject.class);
    List<JsonObject> points = new ArrayList<>();
    for (JsonElement point : file.getAsJsonArray("results")) {
      points.add(point.getAsJsonObject());
    }
    assertThat(points)
        .as("%s", problems)
        .hasSameSizeAs(
            chosen.stream()
                .flatMap(experiment -> experiment.tasks().stream())
                .distinct() // two experiments may have a point in common
                .toList());
    return points;
  }

  @ParameterizedTest
  @ValueSource(strings = {"sendrecv", "magicring"})
  @Tag("whole")
  void everyPointOfEveryExperimentIsMeasured(String provider) throws IOException {
    List<Experiment> all = experiments(provider, true);
    assertThat(run(provider, all, all, FEW)).isNotEmpty();
  }

  /** The experiments of which {@code --quick} measures only the smaller points. */
  @ParameterizedTest
  @ValueSource(strings = {"batch", "inline", "srq", "single-receiver"})
  @Tag("whole")
  void allPointsOfAnExperimentAreMeasured(String id) throws IOException {
    List<Experiment> all = experiments("sendrecv", false);
    List<Experiment> chosen =
        all.stream().filter(experiment -> experiment.id().equals(id)).toList();
    assertThat(run("sendrecv", all, chosen, FEW)).isNotEmpty();
  }

  /** With rnrRetry=0 a message that finds no receive posted ends the connection. */
  @Test
  void everyMessageFindsAReceive() throws IOException {
    assertThat(run("rnr"))
        .allSatisfy(point -> {
          JsonObject result = point.getAsJsonObject("result");
          assertThat(result.get("messages_per_s").getAsDouble()).isPositive();
          // the counter of the whole device may include earlier tests: only its presence counts
          assertThat(result.get("rnr").getAsLong()).isNotNegative();
        });
  }

  @Test
  void aReceiverIsOverrunOnlyWithoutCredits() throws IOException {
    List<JsonObject> overrun = new ArrayList<>();
    for (JsonObject point : run("overrun")) {
      JsonObject result = point.getAsJsonObject("result");
      double sent = result.get("sent_messages_per_connection").getAsDouble();
      if (result.has("messages_per_s")) {
        assertThat(sent).as("%s", point).isEqualTo(OVERRUN_MESSAGES);
      } else {
        assertThat(sent).as("%s", point).isPositive().isLessThan(OVERRUN_MESSAGES);
        overrun.add(point);
      }
    }
    // FerruleCommandTest tests that it happens, with a receiver that is slower than any sender
    assertThat(overrun)
        .allSatisfy(point ->
            assertThat(point.getAsJsonObject("server").get("credits").getAsString())
                .isEqualTo("off"));
  }
}
