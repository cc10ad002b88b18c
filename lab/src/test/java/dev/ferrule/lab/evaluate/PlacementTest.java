// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import dev.ferrule.lab.report.Section;
import dev.ferrule.tools.report.Axis;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Rounds on processors that a hypervisor migrates. */
class PlacementTest {

  private static JsonObject result(double nanos) {
    JsonObject result = new JsonObject();
    result.addProperty(Metric.P50.name(), nanos);
    return result;
  }

  private static JsonObject result(double nanos, double before, double after) {
    JsonObject result = result(nanos);
    result.addProperty(Placement.BEFORE, before);
    result.addProperty(Placement.AFTER, after);
    return result;
  }

  private static Task task(int sizeBytes) {
    return task("latency", sizeBytes);
  }

  private static Task task(String experiment, int sizeBytes) {
    return new Task() {
      @Override
      public JsonObject description() {
        JsonObject description = new JsonObject();
        description.addProperty("experiment", experiment);
        description.addProperty("size_bytes", sizeBytes);
        return description;
      }

      @Override
      public JsonObject run(Workbench bench) {
        throw new UnsupportedOperationException("already measured");
      }
    };
  }

  private final Records records = new Records();
  private final Task steady = task(16);
  private final Task moved = task(64);
  private final Task elsewhere = task(256);

  private void measureDuringMigrations() {
    records.add(steady.description(), 1, result(100, 30, 31));
    records.add(steady.description(), 2, result(102, 33, 29));
    records.add(moved.description(), 1, result(600, 160, 158));
    records.add(moved.description(), 2, result(110, 30, 30));
    records.add(moved.description(), 3, result(400, 31, 150)); // during the measurement
    records.add(elsewhere.description(), 1, result(610, 150, 150));
  }

  private Section section() {
    Series series =
        Series.measured(
            "latency",
            0,
            Metric.P50,
            List.of(
                new Series.Sample(16, steady),
                new Series.Sample(64, moved),
                new Series.Sample(256, elsewhere)));
    return new Experiment(
            "latency",
            "fake",
            "title",
            "text",
            Axis.logarithmic("size", Axis.Unit.BYTES),
            Axis.logarithmic("time", Axis.Unit.NANOS),
            Optional.empty(),
            List.of(series))
        .section(records, Map.of());
  }

  @Test
  void roundsInAnotherPlacementThanMostDoNotCount() {
    measureDuringMigrations();
    assertThat(records.values(steady, Metric.P50.name())).containsExactly(100.0, 102.0);
    assertThat(records.values(moved, Metric.P50.name())).containsExactly(110.0);
    assertThat(records.isAt(records.placement(moved), moved)).isTrue();
    assertThat(records.lineNanos(moved)).hasValue(30.0);
  }

  @Test
  void aPointMeasuredOnlyInAnotherPlacementIsTabulatedWithItsLineButNotDrawn() {
    measureDuringMigrations();
    assertThat(records.values(elsewhere, Metric.P50.name())).containsExactly(610.0);
    assertThat(records.isAt(records.placement(elsewhere), elsewhere)).isFalse();
    Section section = section();
    assertThat(section.tables().get(0).rows().get(2)).contains("610 ns", "150 ns");
    assertThat(section.plots().get(0).curves().get(0).dots()).hasSize(2);
  }

  @Test
  void theReportSaysThatTheProcessorsWereMigrated() {
    measureDuringMigrations();
    assertThat(section().notes())
        .anySatisfy(note ->
            assertThat(note)
                .startsWith(
                    "The processors were migrated during the measurements: between them a bare cache line"
                        + " took 29 to 160")
                .contains("1 of 3 points have no such round"));
  }

  @Test
  void processorsThatWereNotMigratedAreNotMentioned() {
    records.add(steady.description(), 1, result(100, 30, 31));
    records.add(steady.description(), 2, result(140, 33, 29));
    assertThat(records.values(steady, Metric.P50.name())).hasSize(2);
    assertThat(section().notes()).noneMatch(note -> note.contains("migrated"));
  }

  @Test
  void roundsWithoutALineAllCount() {
    records.add(steady.description(), 1, result(100));
    records.add(steady.description(), 2, result(500));
    assertThat(records.values(steady, Metric.P50.name())).containsExactly(100.0, 500.0);
    assertThat(records.lineNanos(steady)).isEmpty();
    assertThat(section().tables().get(0).header()).doesNotContain("bare line");
    assertThat(section().notes()).noneMatch(note -> note.contains("migrated"));
  }

  @Test
  void aMigrationDuringAMeasurementIsNoticed() {
    assertThat(Placement.moved(result(1, 30, 150))).isTrue();
    assertThat(Placement.moved(result(1, 150, 30))).isTrue();
    assertThat(Placement.moved(result(1, 30, 40))).isFalse();
    assertThat(Placement.moved(result(1))).isFalse();
  }

  @Test
  void eachExperimentHasItsOwnUsualPlacement() {
    measureDuringMigrations();
    Task other = task("rates", 16);
    records.add(other.description(), 1, result(300, 155, 156));
    assertThat(records.isAt(records.placement(other), other)).isTrue();
    assertThat(records.placement(other).note()).isEmpty();
  }

  @Test
  void aPointWithoutAUsualRoundHasTheFigureOfOnePlacement() {
    measureDuringMigrations();
    records.add(elsewhere.description(), 2, result(700, 150, 152));
    records.add(elsewhere.description(), 3, result(20, 10, 10));
    records.add(elsewhere.description(), 4, result(50, 10, 150));
    assertThat(records.values(elsewhere, Metric.P50.name())).containsExactly(610.0, 700.0);
  }

  @Test
  void ifEveryRoundHadAMigrationAllCountAndTheReportSaysSo() {
    records.add(steady.description(), 1, result(100, 30, 160));
    records.add(steady.description(), 2, result(200, 150, 29));
    assertThat(records.values(steady, Metric.P50.name())).containsExactly(100.0, 200.0);
    assertThat(section().plots()).hasSize(1);
    assertThat(section().notes()).anyMatch(note -> note.contains("changed within every round"));
  }

  @Test
  void aRoundWithAMigrationDoesNotJoinTwoPlacements() {
    records.add(steady.description(), 1, result(100, 20, 21));
    records.add(steady.description(), 2, result(200, 38, 40));
    records.add(steady.description(), 3, result(150, 21, 38));
    records.add(steady.description(), 4, result(201, 39, 40));
    assertThat(records.values(steady, Metric.P50.name())).containsExactly(200.0, 201.0);
  }

  @Test
  void invalidTimesOfALineAreIgnored() {
    JsonObject words = result(100);
    words.addProperty(Placement.BEFORE, "x");
    words.addProperty(Placement.AFTER, 30);
    records.add(steady.description(), 1, words);
    records.add(steady.description(), 2, result(200, 0, 0));
    records.add(steady.description(), 3, result(300, Double.NaN, 30));
    records.add(steady.description(), 4, result(400, 30, 30));
    assertThat(records.values(steady, Metric.P50.name())).hasSize(4);
    assertThat(section().notes()).noneMatch(note -> note.contains("migrated"));
  }
}
