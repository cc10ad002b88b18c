// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ProviderInfo;
import dev.ferrule.tools.support.Endpoint;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CatalogueTest {

  private static final int PROCESSORS = 4;

  private static ProviderInfo provider(String scheme) {
    return Endpoint.provider(scheme).orElseThrow();
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
          builder.build().resolve(URI.create(scheme + ":///"), provider(scheme).options());
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
    assertThat(servers).hasSizeLessThanOrEqualTo(16);
  }

  /** Connecting takes seconds in an emulated machine. */
  @ParameterizedTest
  @ValueSource(strings = {"sm", "sendrecv", "magicring"})
  void pointsWithTheSameConnectionsFollowEachOther(String scheme) {
    for (Experiment experiment : experiments(scheme, false)) {
      Set<Object> left = new HashSet<>();
      Object before = null;
      for (Task task : experiment.tasks()) {
        if (!task.setting().equals(before)) {
          assertThat(left.add(task.setting())).as(experiment.id() + " " + task).isTrue();
          before = task.setting();
        }
      }
    }
  }
}
