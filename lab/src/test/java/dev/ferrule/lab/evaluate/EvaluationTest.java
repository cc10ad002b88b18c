// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.model.Concurrency;
import dev.ferrule.lab.model.Load;
import dev.ferrule.lab.model.Parameter;
import dev.ferrule.lab.model.PerformanceModel;
import dev.ferrule.tools.bench.RunningServer;
import dev.ferrule.tools.report.Axis;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Evaluates experiments whose tasks need no server. */
class EvaluationTest {

  private static final PerformanceModel TRUTH =
      new PerformanceModel(
          Map.of(
              Parameter.LATENCY, 900.0,
              Parameter.BYTE_GAP, 0.5,
              Parameter.SEND_GAP, 100.0,
              Parameter.SEND_OVERHEAD, 100.0),
          true);
  private static final String LOSSY = "lossy";
  private static final String FAR = "far";
  private static final String CALLS = "calls";
  private static final Effort TWICE = new Effort(true, 2, OptionalLong.empty());

  @TempDir private Path folder;
  private final List<String> done = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private Callable<?> beforeEach = () -> "";
  private final Set<String> elsewhere = new HashSet<>(); // points measured after a migration

  /** A task that returns the figures of the true parameters, or fails. */
  private final class Fake implements Task {
    private final String name;
    private final Metric metric;
    private final Load load;
    private final boolean fails;

    private Fake(String name, Metric metric, Load load, boolean fails) {
      this.name = name;
      this.metric = metric;
      this.load = load;
      this.fails = fails;
    }

    @Override
    public JsonObject description() {
      JsonObject description = new JsonObject();
      boolean known = Set.of("rates", FAR, CALLS, Catalogue.RNR_EXPERIMENT).contains(name);
      description.addProperty("experiment", known ? name : "latency");
      description.addProperty("peer", name);
      description.addProperty("size_bytes", load.sizeBytes());
      description.addProperty("unacked", load.unacked());
      return description;
    }

    @Override
    public JsonObject run(Workbench bench) {
      done.add(name + " " + load.sizeBytes());
      try {
        beforeEach.call();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
      if (fails) {
        throw new IllegalStateException("peer://there#1: is not installed");
      }
      JsonObject result = new JsonObject();
      double value = metric.predicted(TRUTH, Concurrency.of(load));
      boolean moved = elsewhere.contains(name + " " + load.sizeBytes());
      result.addProperty(metric.name(), moved ? value * 5 : name.equals(FAR) ? value / 100 : value);
      if (!elsewhere.isEmpty()) {
        result.addProperty(Placement.BEFORE, moved ? 150 : 30);
        result.addProperty(Placement.AFTER, moved ? 151 : 31);
      }
      if (name.equals(CALLS)) {
        result.addProperty("free_mid_ns", 4);
        result.addProperty("clock_step_ns", 10);
      }
      if (name.equals(LOSSY)) {
        result.addProperty(Catalogue.RNR, 2);
      }
      return result;
    }

    @Override
    public Optional<Concurrency> concurrency() {
      return Optional.of(Concurrency.of(load));
    }
  }

  private List<Series.Sample> samples(IntFunction<Fake> task) {
    return List.of(16, 1024, 65536).stream()
        .map(size -> new Series.Sample(size, task.apply(size)))
        .toList();
  }

  private static Series with(Series.Model model, Series one) {
    return new Series(one.name(), one.colour(), one.style(), one.metric(), model, one.samples());
  }

  private Experiment experiment(String id, Optional<String> obstacle, Series... series) {
    return new Experiment(
        id,
        "fake",
        "title of " + id,
        "text",
        Axis.logarithmic("size", Axis.Unit.BYTES),
        Axis.logarithmic("time", Axis.Unit.NANOS),
        obstacle,
        List.of(series));
  }

  private List<Experiment> experiments() {
    Series latency =
        Series.measured(
            "latency",
            0,
            Metric.P50,
            samples(size -> new Fake("latency", Metric.P50, new Load(size, 1, 1), false)));
    Series broken =
        Series.measured(
            "broken",
            1,
            Metric.P50,
            samples(size -> new Fake("broken", Metric.P50, new Load(size, 2, 1), true)));
    Series rates =
        Series.measured(
            "rates",
            0,
            Metric.MESSAGES,
            samples(size -> new Fake("rates", Metric.MESSAGES, new Load(size, 64, 1), false)));
    return List.of(
        experiment("latency", Optional.empty(), with(Series.Model.FITTED, latency), broken),
        experiment("rates", Optional.empty(), with(Series.Model.FITTED, rates)),
        experiment("impossible", Optional.of("not available"), rates));
  }

  private Path run(Set<String> only) {
    return new Evaluation(folder, TWICE, List.of("fake"), Set.of("fake"), experiments(), "test")
        .run(only, Servers.onThisHost(Optional.empty()), problems::add)
        .report();
  }

  private Evaluation.Outcome evaluate(Experiment... experiments) {
    Set<String> all =
        Stream.of(experiments).map(Experiment::id).collect(Collectors.toUnmodifiableSet());
    return new Evaluation(folder, TWICE, List.of("fake"), Set.of(), List.of(experiments), "test")
        .run(all, Servers.onThisHost(Optional.empty()), problems::add);
  }

  /** The same command continues when the host is available again. */
  @Test
  void aPointThatFailsBecauseTheServersHostIsLostEndsTheEvaluationAndCountsAsNoFailure()
      throws IOException {
    Servers lost =
        new Servers() {
          @Override
          public RunningServer start(
              ProviderInfo provider, ServerSettings settings, Consumer<String> errors) {
            throw new AssertionError("these points need no server");
          }

          @Override
          public Optional<String> lost() {
            return Optional.of("the other host is lost");
          }
        };
    Evaluation evaluation =
        new Evaluation(folder, TWICE, List.of("fake"), Set.of("fake"), experiments(), "test");
    assertThatThrownBy(() -> evaluation.run(ALL, lost, problems::add))
        .isInstanceOf(ToolException.class)
        .hasMessage("the other host is lost");
    assertThat(Files.readString(folder.resolve("journal.jsonl")))
        .contains("\"p50_ns\"")
        .doesNotContain("failed");
    assertThat(run(ALL)).exists();
  }

  private Experiment fails(boolean all) {
    return experiment(
        "latency",
        Optional.empty(),
        Series.measured(
            "some",
            0,
            Metric.P50,
            samples(size -> new Fake("some", Metric.P50, new Load(size, 1, 1), all || size > 16))));
  }

  @Test
  void theModelIsFittedToTheRoundsOfOnePlacement() throws IOException {
    elsewhere.add("latency 1024");
    String report = Files.readString(run(ALL));
    assertThat(report)
        .contains("Predictions are off by a factor of 1.00")
        .contains("The deviations of the model are within the noise of the rounds");
    assertThat(report).contains("1 of 3 points have no such round; they are in the table");
  }

  @Test
  void theReportSaysWhyOneRoundDoesNotShowWhetherTheNoiseExplainsTheDeviations()
      throws IOException {
    Effort once = new Effort(true, 1, OptionalLong.empty());
    Path report =
        new Evaluation(folder, once, List.of("fake"), Set.of("fake"), experiments(), "test")
            .run(ALL, Servers.onThisHost(Optional.empty()), problems::add)
            .report();
    assertThat(report)
        .content()
        .contains("the test needs two rounds, and more points than fitted parameters.");
  }

  @Test
  void theReportMarksATimedCallThatIsShorterThanATickOfTheClock() throws IOException {
    assertThat(reportWithCalls())
        .content()
        .contains("measured (shorter than a tick of the clock, 10 ns)")
        .doesNotContain("The calls were timed in another placement");
  }

  @Test
  void theReportSaysThatCallsOfAnotherPlacementAreNotUsed() throws IOException {
    elsewhere.addAll(Set.of("calls 16", "calls 1024", "calls 65536"));
    assertThat(reportWithCalls())
        .content()
        .contains("The calls were timed in another placement and are not used")
        .doesNotContain("measured (shorter than a tick of the clock, 10 ns)");
  }

  private Path reportWithCalls() throws IOException {
    Series free =
        Series.measured(
            CALLS,
            0,
            Metric.P50,
            samples(size -> new Fake(CALLS, Metric.P50, new Load(size, 1, 1), false)));
    List<Experiment> all = new ArrayList<>(experiments());
    all.add(experiment(CALLS, Optional.empty(), free));
    return new Evaluation(folder, TWICE, List.of("fake"), Set.of("fake"), all, "test")
        .run(Set.of("latency", "rates", CALLS), Servers.onThisHost(Optional.empty()), problems::add)
        .report();
  }

  @Test
  void aModelWithoutOneOfItsExperimentsReportsThat() throws IOException {
    Series more =
        Series.measured(
            "more",
            0,
            Metric.MESSAGES,
            samples(size -> new Fake("more", Metric.MESSAGES, new Load(size, 8, 1), false)));
    List<Experiment> all = new ArrayList<>(experiments());
    all.add(experiment("more", Optional.empty(), with(Series.Model.FITTED, more)));
    Path report =
        new Evaluation(folder, TWICE, List.of("fake"), Set.of("fake"), all, "test")
            .run(ALL, Servers.onThisHost(Optional.empty()), problems::add)
            .report();
    assertThat(report).content().contains("The model lacks more, excluded by --only");
  }

  @Test
  void aModelOfMixedPlacementsReportsThat() throws IOException {
    elsewhere.addAll(Set.of("latency 16", "latency 1024", "latency 65536"));
    String report = Files.readString(run(ALL));
    assertThat(report).contains("This model mixes placements and is not reliable.");
    assertThat(report).as("each plot is still of one placement").doesNotContain("no such round");
  }

  @Test
  void anExperimentHasFailedIfNotOnePointCouldBeMeasured() {
    assertThat(evaluate(fails(true)).failures())
        .containsExactly("fake latency: no point could be measured");
    assertThat(evaluate(fails(false)).failures()).isEmpty();
  }

  @Test
  void anExperimentHasFailedIfAMessageFoundNoReceivePosted() {
    Series lossy =
        Series.measured(
            "lossy",
            0,
            Metric.MESSAGES,
            samples(size -> new Fake(LOSSY, Metric.MESSAGES, new Load(size, 64, 1), false)));
    assertThat(evaluate(experiment("latency", Optional.empty(), lossy)).failures())
        .containsExactly("fake latency: messages found no receive posted (RNR)");
  }

  private Experiment receives(boolean shortestFails) {
    return experiment(
        Catalogue.RNR_EXPERIMENT,
        Optional.empty(),
        Series.measured(
            "some",
            0,
            Metric.MESSAGES,
            samples(size ->
                new Fake(
                    "rnr", Metric.MESSAGES, new Load(size, 64, 1), shortestFails && size == 16))));
  }

  /** In this experiment a message without a receive breaks the connection, so no point may fail. */
  @Test
  void theExperimentOnReceivesHasFailedIfASinglePointDidEvenIfItSucceededLater() {
    assertThat(evaluate(receives(true)).failures())
        .containsExactly("fake rnr: a point failed 1 times: is not installed");
    assertThat(evaluate(receives(false)).failures())
        .containsExactly(
            "fake rnr: a point failed 1 times: it succeeded later, but must not fail at all");
    assertThat(folder.resolve("report.html"))
        .content()
        .contains("FAILED: points failed 1 times; messages without a receive: 0");
  }

  @Test
  void theExperimentOnReceivesReportsThatItHasPassed() {
    assertThat(evaluate(receives(false)).failures()).isEmpty();
    assertThat(folder.resolve("report.html"))
        .content()
        .contains(
            "Passed, without RNR counters: 3 of 3 points were measured at the first attempt; no");
  }

  @Test
  void aFileInThePlaceOfTheFolderIsNamed() throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    assertThatThrownBy(() ->
            new Evaluation(file, TWICE, List.of("fake"), Set.of("fake"), experiments(), "test")
                .run(Set.of("latency"), Servers.onThisHost(Optional.empty()), problems::add))
        .isInstanceOf(ToolException.class)
        .hasMessage(file + " is a file, not a folder; choose another with --out");
  }

  @Test
  void aFolderWithUnknownExperimentsIsNotChanged() throws IOException {
    Path report = run(ALL);
    String before = Files.readString(report);

    assertThatThrownBy(() -> evaluate(experiments().get(1)))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("experiments that this command does not know: latency;")
        .hasMessageContaining("--peers");
    assertThat(Files.readString(report)).isEqualTo(before);
  }

  @Test
  void pointsThatTwoExperimentsShowAreCountedAndMeasuredOnce() {
    Series rates =
        Series.measured(
            "rates",
            0,
            Metric.MESSAGES,
            samples(
                size -> new Fake("rates", Metric.MESSAGES, new Load(size, 64, 1), size == 1024)));
    evaluate(
        experiment("rates", Optional.empty(), rates),
        experiment("latency", Optional.empty(), rates));
    assertThat(done)
        .as("the point that fails is not repeated")
        .containsExactly("rates 16", "rates 1024", "rates 65536", "rates 16", "rates 65536");
    assertThat(problems).filteredOn(line -> line.startsWith("evaluate: ")).hasSize(6);
    assertThat(problems).last().asString().startsWith("evaluate: 6 of 6");
  }

  /** Each measurement reads the report of the experiments before it. */
  @Test
  void aPartialReportShowsHowManyMeasurementsAreMissing() throws IOException {
    Path report = folder.resolve("report.html");
    List<String> found = new ArrayList<>();
    beforeEach = () -> found.add(Files.readString(report));
    run(Set.of("latency", "rates"));
    assertThat(found).hasSize(9 + 6);
    assertThat(found.subList(0, 9)).allMatch(page -> page.contains(">partial, 18 measurements"));
    assertThat(found.subList(9, 15))
        .allMatch(page -> page.contains(">partial, 6 measurements to go; test, "));
    assertThat(report).content().doesNotContain("partial,", "Partial:");
  }

  private static final Set<String> ALL = Set.of("latency", "rates", "impossible");

  @Test
  void eachRoundMeasuresAllPointsOnceAndDoesNotRetryFailures() {
    run(Set.of("latency"));
    assertThat(done)
        .containsExactly(
            "latency 16",
            "broken 16",
            "latency 1024",
            "broken 1024",
            "latency 65536",
            "broken 65536",
            "latency 16",
            "latency 1024",
            "latency 65536");
    assertThat(problems)
        .as("three points fail for one reason")
        .filteredOn(line -> line.contains("is not installed"))
        .hasSize(1);
    assertThat(problems)
        .as("progress without a terminal")
        .anyMatch(line -> line.matches("evaluate: 7 of 12, 0:\\d\\d left: fake latency"))
        .contains("evaluate: 12 of 12: fake latency");
  }

  @Test
  void theReportShowsWhatWasMeasuredWhatFailedAndWhatIsImpossible() throws IOException {
    Path report = run(ALL);
    assertThat(Files.readString(report))
        .contains("title of latency", "title of rates")
        .doesNotContain("title of impossible")
        .contains(
            "Not measured: broken at 16 B, broken at 1 KiB, broken at 64 KiB: is not installed")
        .contains("<td>fake impossible</td><td>not available</td>")
        .contains("model: latency", "model: rates", "sender's processor", "bytes in flight (G)");
    assertThat(Files.readString(folder.resolve("params.json"))).contains("\"fake\"", "\"o_nrcv\"");
    assertThat(folder.resolve("plots/fake-latency.svg")).exists();
    assertThat(folder.resolve("plots/fake-impossible.svg")).doesNotExist();
  }

  @Test
  void pointsInTheJournalAreNotMeasuredAgainAndStayInTheReport() throws IOException {
    run(Set.of("latency"));
    done.clear();
    Path report = run(Set.of("rates"));
    assertThat(done).hasSize(6).allMatch(task -> task.startsWith("rates"));
    assertThat(Files.readString(report)).contains("latency, 1 KiB");
    done.clear();
    run(ALL);
    assertThat(done)
        .as("only what had failed")
        .hasSize(3)
        .allMatch(task -> task.startsWith("broken"));
  }

  @Test
  void pointsOfAnotherBuildAreNotAdded() {
    run(Set.of("rates"));
    Evaluation other =
        new Evaluation(folder, TWICE, List.of("fake"), Set.of("fake"), experiments(), "test (new)");
    assertThatThrownBy(() -> other.run(ALL, Servers.onThisHost(Optional.empty()), problems::add))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("ferrule was \"test\" and is \"test (new)\"");
  }

  @Test
  void theReportShowsTheLoadAtEachContinuation() throws IOException {
    assertThat(Files.readString(run(Set.of("rates")))).doesNotContain("Measured from");
    assertThat(Files.readString(run(ALL))).contains("Measured from");
  }

  /** An error of +11548 %, for example, is of no use. */
  @Test
  void aModelThatIsFarOffIsNotDrawnAndTheReportSaysSo() throws IOException {
    Series far =
        Series.measured(
            "far",
            0,
            Metric.P50,
            samples(size -> new Fake(FAR, Metric.P50, new Load(size, 9, 1), false)));
    List<Experiment> all = new ArrayList<>(experiments());
    all.add(experiment("far", Optional.empty(), with(Series.Model.PREDICTED, far)));
    Path report =
        new Evaluation(folder, TWICE, List.of("fake"), Set.of("fake"), all, "test")
            .run(
                Set.of("latency", "rates", "far"),
                Servers.onThisHost(Optional.empty()),
                problems::add)
            .report();
    assertThat(Files.readString(report))
        .contains("model: latency")
        .doesNotContain("model: far", "100 times", "% off")
        .contains(
            "The model is not shown where it is off by more than a factor of 2: far (a factor of 100).");
  }

  /** A second slope may be the reason why a model does not fit. */
  @Test
  void aSecondSlopeIsTestedEvenIfTheModelDoesNotFit() throws IOException {
    Series contradicting =
        Series.measured(
            "far",
            0,
            Metric.P50,
            samples(size -> new Fake(FAR, Metric.P50, new Load(size, 1, 1), false)));
    List<Experiment> all = new ArrayList<>(experiments());
    all.add(experiment("far", Optional.empty(), with(Series.Model.FITTED, contradicting)));
    Path report =
        new Evaluation(folder, TWICE, List.of("fake"), Set.of("fake"), all, "test")
            .run(
                Set.of("latency", "rates", "far"),
                Servers.onThisHost(Optional.empty()),
                problems::add)
            .report();
    assertThat(Files.readString(report))
        .contains("off by more than a factor of 2. Its parameters are not reliable.")
        .contains("The model does not fit")
        .contains("a second G for the bytes beyond the MTU was not tested");
  }

  /** Latencies at 64 bytes, and the highest rates, each with its point. */
  @Test
  void theReportBeginsWithTheHeadlineFiguresAndTheirTrust() throws IOException {
    Series p50 =
        Series.measured(
            "p50",
            0,
            Metric.P50,
            List.of(
                new Series.Sample(64, new Fake("latency", Metric.P50, new Load(64, 1, 1), false))));
    Series rates =
        Series.measured(
            "pipelined",
            0,
            Metric.MESSAGES,
            samples(size -> new Fake("rates", Metric.MESSAGES, new Load(size, 64, 1), false)));
    evaluate(
        experiment("latency", Optional.empty(), p50), experiment("rates", Optional.empty(), rates));
    String report = Files.readString(folder.resolve("report.html"));
    String p50Text =
        Metric.P50.format(Metric.P50.predicted(TRUTH, Concurrency.of(new Load(64, 1, 1))));
    assertThat(report)
        .contains("one-way latency, p50<b>" + p50Text + "</b>")
        .contains("rates: pipelined, 16 B")
        .contains("The rounds of the median point differ by 0 %, those of 0 of 4 points")
        .containsPattern("Trust: (fair|low)") // depends on the machine's load
        .contains("fewer than 3 rounds");
    assertThat(report.indexOf("Trust: ")).isLessThan(report.indexOf("<nav>"));
  }

  /** A missing feature is KNEM, for example. */
  @Test
  void missingFeaturesDoNotLowerTheTrust() throws IOException {
    run(Set.of("latency", "rates"));
    assertThat(Files.readString(folder.resolve("report.html")))
        .doesNotContain("Points that failed");
  }

  @Test
  void pointsThatFailBesideOthersOfTheirCurveAreCountedInTheVerdict() throws IOException {
    Series rates =
        Series.measured(
            "rates",
            0,
            Metric.MESSAGES,
            samples(size -> new Fake("rates", Metric.MESSAGES, new Load(size, 64, 1), size > 16)));
    evaluate(experiment("rates", Optional.empty(), rates));
    assertThat(Files.readString(folder.resolve("report.html"))).contains("Points that failed: 2.");
  }

  @Test
  void aQuotientIsThatOfTheTwoMediansAndNotTheMedianOfTheRoundsQuotients() {
    Records records = new Records();
    Fake task = new Fake("latency", Metric.P50, new Load(16, 1, 1), false);
    double[][] rounds = {{1, 10}, {4, 2}, {9, 30}};
    for (int round = 1; round <= rounds.length; round++) {
      JsonObject result = new JsonObject();
      result.addProperty("write_bytes_per_s", rounds[round - 1][0]);
      result.addProperty("copy", rounds[round - 1][1]);
      records.add(task.description(), round, result);
    }
    Metric quotient =
        new Metric("write_bytes_per_s", "of a copy", Metric.Kind.NUMBER, Optional.of("copy"));
    assertThat(records.median(task, quotient)).hasValue(4.0 / 10);
    assertThat(records.values(task, quotient)).containsExactly(0.1, 2.0, 0.3);
  }

  /** Two limits that make no difference in the model, and one that does. */
  @Test
  void equalLinesOfTheModelAreDrawnOnce() throws IOException {
    Series[] series = new Series[3];
    int[] unacked = {1, 100, 200};
    for (int i = 0; i < series.length; i++) {
      Load load = new Load(16, unacked[i], 1);
      series[i] =
          with(
              Series.Model.PREDICTED,
              Series.measured(
                  "up to " + load.unacked(),
                  i,
                  Metric.MESSAGES,
                  samples(size ->
                      new Fake(
                          "rates", Metric.MESSAGES, new Load(size, load.unacked(), 1), false))));
    }
    List<Experiment> all =
        List.of(experiments().get(0), experiment("rates", Optional.empty(), series));
    List<Experiment> fitted = new ArrayList<>(all);
    fitted.add(experiments().get(1));
    new Evaluation(folder, TWICE, List.of("fake"), Set.of("fake"), fitted, "test")
        .run(Set.of("latency", "rates"), Servers.onThisHost(Optional.empty()), problems::add);
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains(">model: up to 1<", ">model: up to 100; up to 200<");
  }

  @Test
  void roundsThatDifferMuchAreNoted() {
    Records records = new Records();
    Fake task = new Fake("latency", Metric.P50, new Load(16, 1, 1), false);
    for (int round = 1; round <= 2; round++) {
      JsonObject result = new JsonObject();
      result.addProperty("p50_ns", 100 * round * round);
      records.add(task.description(), round, result);
    }
    Experiment experiment = experiments().get(0);
    assertThat(experiment.section(records, Map.of()).notes())
        .anyMatch(note -> note.startsWith("Rounds differ by more than a factor of 2 at 1 of 1"));
  }
}
