// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import dev.ferrule.tools.report.Axis;
import dev.ferrule.tools.report.Section;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Rounds on processors that the host of a virtual machine moves. */
class PlacementTest {

  private static JsonObject result(double nanos) {
    JsonObject result = new JsonObject();
    result.addProperty(Figure.P50.name(), nanos);
    return result;
  }

  private static JsonObject result(double nanos, double before, double after) {
    JsonObject result = result(nanos);
    result.addProperty(Placement.BEFORE, before);
    result.addProperty(Placement.AFTER, after);
    return result;
  }

  private static Task task(int sizeBytes) {
    return new Task() {
      @Override
      public JsonObject description() {
        JsonObject description = new JsonObject();
        description.addProperty("size_bytes", sizeBytes);
        return description;
      }

      @Override
      public JsonObject run(Workbench bench) {
        throw new UnsupportedOperationException("is measured already");
      }
    };
  }

  private final Records records = new Records();
  private final Task steady = task(16);
  private final Task moved = task(64);
  private final Task elsewhere = task(256);

  private void measureWhileProcessorsAreMoved() {
    records.add(steady.description(), 1, result(100, 30, 31));
    records.add(steady.description(), 2, result(102, 33, 29));
    records.add(moved.description(), 1, result(600, 160, 158));
    records.add(moved.description(), 2, result(110, 30, 30));
    records.add(moved.description(), 3, result(400, 31, 150)); // in the middle of it
    records.add(elsewhere.description(), 1, result(610, 150, 150));
  }

  private Section section() {
    Series series =
        Series.measured(
            "latency",
            0,
            Figure.P50,
            List.of(
                new Series.Sample(16, steady),
                new Series.Sample(64, moved),
                new Series.Sample(256, elsewhere)));
    return new SeriesExperiment(
            "latency",
            "fake",
            "title",
            "text",
            Axis.logarithmic("size", Axis.Unit.BYTES),
            Axis.logarithmic("time", Axis.Unit.NANOS),
            Optional.empty(),
            List.of(series))
        .section(records, new Models());
  }

  @Test
  void roundsOfAnotherPlaceThanMostDoNotCount() {
    measureWhileProcessorsAreMoved();
    assertThat(records.values(steady, Figure.P50.name())).containsExactly(100.0, 102.0);
    assertThat(records.values(moved, Figure.P50.name())).containsExactly(110.0);
    assertThat(records.isUsual(moved)).isTrue();
    assertThat(records.lineNanos(moved)).hasValue(30);
  }

  @Test
  void aPointThatWasMeasuredInAnotherPlaceOnlyIsTabulatedWithItsLineButNotDrawn() {
    measureWhileProcessorsAreMoved();
    assertThat(records.values(elsewhere, Figure.P50.name())).containsExactly(610.0);
    assertThat(records.isUsual(elsewhere)).isFalse();
    Section section = section();
    assertThat(section.tables().get(0).rows().get(2)).contains("610 ns", "150 ns");
    assertThat(section.plots().get(0).curves().get(0).dots()).hasSize(2);
  }

  @Test
  void theReportSaysThatTheProcessorsWereMoved() {
    measureWhileProcessorsAreMoved();
    assertThat(section().notes())
        .anySatisfy(
            note ->
                assertThat(note)
                    .startsWith(
                        "The processors were moved in the course of this: a bare cache line took 29")
                    .contains("1 of 3 points have none"));
  }

  @Test
  void processorsThatStayAreNotMentioned() {
    records.add(steady.description(), 1, result(100, 30, 31));
    records.add(steady.description(), 2, result(140, 33, 29));
    assertThat(records.values(steady, Figure.P50.name())).hasSize(2);
    assertThat(section().notes()).noneMatch(note -> note.contains("moved"));
  }

  @Test
  void roundsWithoutALineAllCount() {
    records.add(steady.description(), 1, result(100));
    records.add(steady.description(), 2, result(500));
    assertThat(records.values(steady, Figure.P50.name())).containsExactly(100.0, 500.0);
    assertThat(records.lineNanos(steady)).isEmpty();
    assertThat(section().tables().get(0).header()).doesNotContain("bare line");
    assertThat(section().notes()).noneMatch(note -> note.contains("moved"));
  }

  @Test
  void processorsThatAreMovedInTheMiddleAreNoticed() {
    assertThat(Placement.moved(result(1, 30, 150))).isTrue();
    assertThat(Placement.moved(result(1, 150, 30))).isTrue();
    assertThat(Placement.moved(result(1, 30, 40))).isFalse();
    assertThat(Placement.moved(result(1))).isFalse();
  }
}
