// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.model.Processors;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.tools.support.ConfiguredAddress;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CatalogueTest {

  private static final Processors PROCESSORS = Processors.ofOneHost(4);

  private static ProviderInfo provider(String scheme) {
    return ConfiguredAddress.provider(scheme).orElseThrow();
  }

  private static List<Experiment> experiments(String scheme, boolean quick) {
    return new Catalogue(provider(scheme), quick, PROCESSORS).experiments();
  }

  private static List<Point> points(String scheme, boolean quick) {
    return experiments(scheme, quick).stream()
        .filter(experiment -> experiment.obstacle().isEmpty())
        .flatMap(experiment -> experiment.tasks().stream())
        .map(Point.class::cast)
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "sm, 'srq,polling,reposting,acknowledging,rnr,overrun,overrun-rate,inline,magic'",
    "sendrecv, 'acknowledging,magic,paths'",
    "magicring, 'srq,reposting,overrun,overrun-rate,paths'",
  })
  void onlyExperimentsOfMissingOptionsAreImpossible(String scheme, String impossible) {
    assertThat(
            experiments(scheme, false).stream()
                .filter(experiment -> experiment.obstacle().isPresent())
                .map(Experiment::id)
                .collect(Collectors.joining(",")))
        .isEqualTo(impossible);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm", "sendrecv", "magicring"})
  void everyPointHasOptionsOfItsProvider(String scheme) {
    for (boolean quick : new boolean[] {true, false}) {
      for (Point point : points(scheme, quick)) {
        for (Map<String, String> options : List.of(point.server(), point.client())) {
          ConnectionOptions.Builder builder = ConnectionOptions.builder();
          options.forEach(builder::set);
          ResolvedOptions.of(
              builder.build(), URI.create(scheme + ":///"), provider(scheme).options());
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm", "sendrecv", "magicring"})
  void noTwoPointsHaveTheSameDescription(String scheme) {
    Set<JsonObject> descriptions = new HashSet<>();
    for (Point point : Set.copyOf(points(scheme, false))) { // some are shown twice
      assertThat(descriptions.add(point.description())).as(point.toString()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm", "sendrecv", "magicring"})
  void theServersOfAQuickEvaluationAreFew(String scheme) {
    Set<String> servers =
        points(scheme, true).stream()
            .map(point -> point.waiting() + point.server())
            .collect(Collectors.toSet());
    assertThat(servers).hasSizeLessThanOrEqualTo(19);
  }

  /** The documented points of the experiments; with --quick there are fewer. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "latency | p50; p50, SRQ at the server | 1 16 64 128 256 512 1024 2048 4096 8192 65536 1048576",
        "unacked | 16 B | 1 2 4 8 16 32 64 128 256",
        "batch | 16 unacknowledged | 1 2 4 8 16",
        "batch | 64 unacknowledged; 128 unacknowledged; 256 unacknowledged | 1 2 4 8 16 32 64",
        "bandwidth | single; pipelined; pipelined and batched |"
            + " 16 64 256 512 1024 2048 4096 8192 65536 1048576",
        "threads | 16 B; 512 B; 8192 B; 16 B, SRQ; 512 B, SRQ; 8192 B, SRQ | 1 2 4 8",
        "single-receiver | 16 B; 512 B; 16 B, SRQ; 512 B, SRQ | 1 2 4 8 16 32",
        "srq | a receive queue each; SRQ | 1 2 4 8 16",
        "polling | up to 32; one by one; 4:1, up to 32; 4:1, one by one | 16 64 256 512 1024 4096",
        "reposting | up to 16; one by one; 4:1, up to 16; 4:1, one by one | 16 64 256 512 1024 4096",
        "inline | inline; not inline | 16 32 64 128 220",
        "overrun | 1:1, without credits; 4:1, without credits; 16:1, without credits;"
            + " 1:1, with credits; 4:1, with credits; 16:1, with credits | 10 100 300 1000 3000 10000 30000 100000 300000",
      })
  void theCurvesHaveTheDocumentedPoints(String id, String curves, String places) {
    Experiment experiment =
        experiments("sendrecv", false).stream()
            .filter(candidate -> candidate.id().equals(id))
            .findFirst()
            .orElseThrow();
    for (String curve : curves.split("; *")) {
      assertThat(experiment.series())
          .filteredOn(series -> series.name().equals(curve))
          .singleElement()
          .satisfies(series ->
              assertThat(series.samples())
                  .extracting(sample -> String.valueOf((long) sample.x()))
                  .containsExactly(places.split(" ")));
    }
  }

  /** Connecting takes seconds in an emulated machine. */
  @ParameterizedTest
  @ValueSource(strings = {"sm", "sendrecv", "magicring"})
  void pointsWithTheSameConnectionsFollowEachOther(String scheme) {
    for (Experiment experiment : experiments(scheme, false)) {
      Set<Object> left = new HashSet<>();
      Object before = null;
      for (Task task : experiment.tasks()) {
        if (!task.setup().equals(before)) {
          assertThat(left.add(task.setup())).as(experiment.id() + " " + task).isTrue();
          before = task.setup();
        }
      }
    }
  }

  /** On two processors, the thread that posts shared buffers would wait for threads that spin. */
  @Test
  void noThreadSpinsBesideASharedReceiveQueueIfProcessorsAreFew() {
    List<Experiment> experiments =
        new Catalogue(provider("sendrecv"), false, Processors.ofOneHost(2)).experiments();
    assertThat(
            experiments.stream()
                .filter(experiment -> experiment.obstacle().isEmpty())
                .flatMap(experiment -> experiment.tasks().stream())
                .map(Point.class::cast)
                .filter(point -> "on".equals(point.server().get("srq"))))
        .allMatch(point -> point.waiting().equals("adaptive"))
        .extracting(Point::experiment)
        .contains("latency", "threads", "single-receiver", "srq", "rnr");
    assertThat(experiments.getFirst().section(new Records(), Map.of()).text())
        .contains("With the SRQ", "adaptively");
    assertThat(experiments.getFirst().tasks())
        .extracting(Point.class::cast)
        .as("a curve to compare it with")
        .anyMatch(
            point -> point.waiting().equals("adaptive") && !point.server().containsKey("srq"));
  }

  /**
   * On one host of four processors two threads send beside the receiver and a thread that posts.
   */
  @ParameterizedTest
  @CsvSource({"4, 4, true, 2, 2", "4, 4, false, 4, 4", "2, 8, false, 2, 2", "8, 2, false, 8, 2"})
  void threadsSpinWhereTheirOwnHostHasAProcessorForEach(
      int client, int server, boolean shared, int sending, int pairs) {
    Processors processors = new Processors(client, server, shared);
    List<Point> points =
        new Catalogue(provider("sendrecv"), false, processors)
            .experiments().stream()
                .filter(experiment -> experiment.obstacle().isEmpty())
                .flatMap(experiment -> experiment.tasks().stream())
                .map(Point.class::cast)
                .toList();

    assertThat(points)
        .filteredOn(point -> point.experiment().equals("single-receiver"))
        .allMatch(point -> point.waiting().equals("spin"))
        .extracting(Point::threads)
        .contains(sending)
        .allMatch(threads -> threads <= sending);
    assertThat(points)
        .filteredOn(point -> point.experiment().equals("threads"))
        .filteredOn(point -> point.waiting().equals("spin"))
        .extracting(Point::threads)
        .contains(pairs)
        .allMatch(threads -> threads <= pairs);
    assertThat(points).allMatch(point -> point.processors().equals(processors));
  }
}
