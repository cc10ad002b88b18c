// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fits to measurements that a known model would give, with noise. */
class FitTest {

  private final List<Observation> observations = new ArrayList<>();

  private void observe(PerformanceModel truth, double noise, long seed) {
    observations.addAll(Measurements.of(truth, noise, new Random(seed)));
  }

  private static List<TimedCall> calls(Map<Parameter, Double> truth) {
    return List.of(Parameter.SEND_OVERHEAD, Parameter.RECEIVE_OVERHEAD, Parameter.RECEIVE_GAP)
        .stream()
        .map(
            parameter -> {
              double value = truth.get(parameter);
              return new TimedCall(parameter, List.of(value * 0.98, value, value * 1.02), 0);
            })
        .toList();
  }

  private FitResult fit(
      Map<Parameter, Double> truth, boolean acknowledged, double noise, long seed) {
    observe(new PerformanceModel(truth, acknowledged), noise, seed);
    return Fit.of(observations, calls(truth), acknowledged).orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whatIsKnownIsFoundInSpiteOfNoise(long seed) {
    Map<Parameter, Double> truth = PerformanceModelTest.CARD;
    FitResult fit = fit(truth, true, 0.03, seed);
    assertThat(fit.relativeError()).isBetween(0.01, 0.05);
    assertNear(fit, Parameter.LATENCY, truth, 10);
    assertNear(fit, Parameter.BYTE_GAP, truth, 10);
    assertNear(fit, Parameter.SEND_GAP, truth, 40); // a fifth of the stage that it is in
    for (Parameter parameter : List.of(Parameter.LATENCY, Parameter.BYTE_GAP)) {
      Estimate estimate = fit.estimates().get(parameter);
      assertThat(estimate.source()).isEqualTo(Estimate.Source.FITTED);
      assertThat(estimate.low().getAsDouble()).isLessThan(estimate.value());
      assertThat(estimate.high().getAsDouble()).isGreaterThan(estimate.value());
    }
  }

  /** As where the sender copies them in, and then the receiver out. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatBytesTakeMoreByThemselvesThanInAStreamIsTold(boolean acknowledged) {
    Map<Parameter, Double> truth = new EnumMap<>(PerformanceModelTest.CARD);
    truth.put(Parameter.BYTE_ALONE, 0.3);
    FitResult fit = fit(truth, acknowledged, 0.02, 1);
    assertNear(fit, Parameter.BYTE_GAP, truth, 10);
    assertNear(fit, Parameter.BYTE_ALONE, truth, 10);
  }

  @Test
  void bytesThatTakeNoMoreByThemselvesAreSaidToTakeAlmostNothingMore() {
    Map<Parameter, Double> truth = new EnumMap<>(PerformanceModelTest.CARD);
    truth.put(Parameter.BYTE_ALONE, 0.0);
    FitResult fit = fit(truth, true, 0.02, 1);
    assertNear(fit, Parameter.BYTE_GAP, truth, 10);
    Estimate alone = fit.estimates().get(Parameter.BYTE_ALONE);
    assertThat(alone.source()).as("%s", alone).isEqualTo(Estimate.Source.AT_MOST);
    assertThat(alone.high().orElseThrow()).isLessThan(truth.get(Parameter.BYTE_GAP) / 4);
  }

  @Test
  void whereNoStreamIsBoundByItsBytesOnlyTheirSumByThemselvesIsKnown() {
    Map<Parameter, Double> truth = new EnumMap<>(PerformanceModelTest.CARD);
    truth.put(Parameter.SEND_GAP, 20_000.0);
    FitResult fit = fit(truth, false, 0.01, 1);
    double sum = fit.model().get(Parameter.BYTE_GAP) + fit.model().get(Parameter.BYTE_ALONE);
    assertThat(sum).as("%s", fit).isCloseTo(0.12, Percentage.withPercentage(5));
    for (Parameter parameter : List.of(Parameter.BYTE_GAP, Parameter.BYTE_ALONE)) {
      Estimate estimate = fit.estimates().get(parameter);
      assertThat(estimate.low().orElse(0)).as("%s", estimate).isZero();
      assertThat(estimate.high().orElseThrow())
          .as("%s", estimate)
          .isGreaterThan(truth.get(parameter));
    }
  }

  private static void assertNear(
      FitResult fit, Parameter parameter, Map<Parameter, Double> truth, double percent) {
    assertThat(fit.estimates().get(parameter).value())
        .as(parameter.symbol() + " of " + fit)
        .isCloseTo(truth.get(parameter), Percentage.withPercentage(percent));
  }

  @Test
  void exactMeasurementsAreExplainedExactly() {
    FitResult fit = fit(PerformanceModelTest.CARD, true, 0, 1);
    assertThat(fit.relativeError()).isCloseTo(0, within(0.01));
    for (Observation observation : observations) {
      Stage truth =
          new PerformanceModel(PerformanceModelTest.CARD, true).bottleneck(observation.load());
      assertThat(fit.bottleneck(observation.load()))
          .as("%s", observation)
          .isEqualTo(truth == Stage.RECEIVER_NIC ? Stage.EITHER_NIC : truth);
    }
  }

  @Test
  void theIntervalOfTheNoiseHoldsTheTruthMostOfTheTime() {
    int held = 0;
    int trials = 20;
    for (int seed = 0; seed < trials; seed++) {
      observations.clear();
      Estimate latency =
          fit(PerformanceModelTest.CARD, true, 0.05, seed).estimates().get(Parameter.LATENCY);
      if (latency.low().orElse(0) <= 1900 && 1900 <= latency.high().orElse(0)) {
        held++;
      }
    }
    assertThat(held).isGreaterThanOrEqualTo(trials * 8 / 10);
  }

  @Test
  void timedCallsAreTakenAsTheyAreWithTheConfidenceOfTheirRounds() {
    FitResult fit = fit(PerformanceModelTest.CARD, true, 0.03, 1);
    Estimate send = fit.estimates().get(Parameter.SEND_OVERHEAD);
    assertThat(send.source()).isEqualTo(Estimate.Source.MEASURED);
    assertThat(send.value()).isCloseTo(120, within(1e-9));
    // 2.4 / sqrt(3), times Student's 4.303 for two degrees of freedom
    assertThat(send.standardError().getAsDouble()).isCloseTo(1.3856, within(1e-3));
    assertThat(send.high().getAsDouble()).isCloseTo(120 + 5.962, within(1e-2));
  }

  @Test
  void aCallThatIsSlowerThanAStreamIsNotTakenForWhatLimitsTheStream() {
    observe(new PerformanceModel(PerformanceModelTest.CARD, true), 0.02, 1);
    FitResult fit =
        Fit.of(
                observations,
                List.of(new TimedCall(Parameter.RECEIVE_OVERHEAD, List.of(900.0, 910.0), 10)),
                true)
            .orElseThrow();
    assertThat(fit.estimates().get(Parameter.RECEIVE_OVERHEAD).source())
        .isNotEqualTo(Estimate.Source.MEASURED);
    assertThat(fit.notes())
        .anyMatch(note -> note.startsWith("o_rcv: the call by itself takes 905 ns, but"));
    assertThat(fit.relativeError()).isLessThan(0.05);
  }

  @Test
  void cardsWhoseTimesShowOnlyAsASumAreSaidToBeUnknown() {
    Map<Parameter, Double> truth = new EnumMap<>(PerformanceModelTest.CARD);
    truth.put(Parameter.SEND_GAP, 1000.0); // hides both cards
    truth.put(Parameter.SEND_NIC, 5.0);
    truth.put(Parameter.RECEIVE_NIC, 5.0);
    FitResult fit = fit(truth, false, 0.01, 1);
    for (Parameter parameter : List.of(Parameter.SEND_NIC, Parameter.RECEIVE_NIC)) {
      assertThat(fit.estimates().get(parameter).source())
          .as("%s", fit)
          .isIn(Estimate.Source.TOGETHER, Estimate.Source.AT_MOST);
    }
    assertThat(fit.notes()).anyMatch(note -> note.contains("o_nsnd") && note.contains("o_nrcv"));
    // without acknowledgements L only ever shows in a sum with them
    Estimate latency = fit.estimates().get(Parameter.LATENCY);
    assertThat(latency.value()).isBetween(1500.0, 2200.0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whichOfTheCardsIsTheSlowerOneIsNotMadeUp(boolean sendingIsSlower) {
    Map<Parameter, Double> truth = new EnumMap<>(PerformanceModelTest.CARD);
    truth.put(sendingIsSlower ? Parameter.SEND_NIC : Parameter.RECEIVE_NIC, 700.0);
    FitResult fit = fit(truth, true, 0.01, 1);
    Estimate receiving = fit.estimates().get(Parameter.RECEIVE_NIC);
    assertThat(receiving.value()).isCloseTo(700, Percentage.withPercentage(5));
    assertThat(receiving.source()).isEqualTo(Estimate.Source.TOGETHER);
    assertThat(receiving.note())
        .startsWith("one of o_nsnd and o_nrcv is ")
        .endsWith("cannot show which");
    assertThat(fit.bottleneck(new Load(16, 256, 8))).isEqualTo(Stage.EITHER_NIC);
  }

  @Test
  void aStageThatNeverIsTheSlowestIsOnlyBounded() {
    Map<Parameter, Double> truth = new EnumMap<>(PerformanceModelTest.CARD);
    truth.put(Parameter.SEND_NIC, 2000.0);
    FitResult fit = fit(truth, true, 0.01, 1);
    Estimate gap = fit.estimates().get(Parameter.SEND_GAP);
    assertThat(gap.source()).isIn(Estimate.Source.AT_MOST, Estimate.Source.TOGETHER);
    assertThat(gap.standardError()).isEmpty();
  }

  /** What has taken up a stage's time at the best point is not what limits it. */
  @Test
  void aBoundHoldsHoweverTheOtherParametersAreChosen() {
    for (int seed = 0; seed < 5; seed++) {
      observations.clear();
      FitResult fit = fit(PerformanceModelTest.CARD, true, 0.05, seed);
      for (Parameter card : List.of(Parameter.SEND_NIC, Parameter.RECEIVE_NIC)) {
        Estimate estimate = fit.estimates().get(card);
        if (estimate.source() == Estimate.Source.AT_MOST) {
          assertThat(estimate.high().getAsDouble()).as("%s", fit).isGreaterThanOrEqualTo(60);
        }
      }
    }
  }

  @Test
  void aCallThatTakesLessThanATickOfTheClockIsKnownToWithinTheTick() {
    observe(new PerformanceModel(PerformanceModelTest.CARD, true), 0.03, 1);
    FitResult fit =
        Fit.of(
                observations,
                List.of(
                    new TimedCall(Parameter.RECEIVE_OVERHEAD, List.of(50.0, 50.0, 50.0), 10),
                    new TimedCall(Parameter.RECEIVE_GAP, List.of(0.0, 0.0, 0.0), 10)),
                true)
            .orElseThrow();
    Estimate gap = fit.estimates().get(Parameter.RECEIVE_GAP);
    assertThat(gap.source()).isEqualTo(Estimate.Source.MEASURED);
    assertThat(gap.value()).isZero();
    assertThat(gap.high().getAsDouble()).isBetween(5.0, 10.0);
    assertThat(gap.note()).isEqualTo("shorter than a tick of the clock, 10 ns");
    Estimate overhead = fit.estimates().get(Parameter.RECEIVE_OVERHEAD);
    assertThat(overhead.low().getAsDouble()).isBetween(40.0, 45.0);
    assertThat(overhead.note()).isEmpty();
  }

  /** A bound is not told as if it were the card's time. */
  @Test
  void ofACardThatIsOnlyBoundedNothingElseIsSaid() {
    Map<Parameter, Double> truth = new EnumMap<>(PerformanceModelTest.CARD);
    truth.put(Parameter.RECEIVE_NIC, 700.0);
    FitResult fit = fit(truth, true, 0.02, 1);
    Estimate sending = fit.estimates().get(Parameter.SEND_NIC);
    Estimate receiving = fit.estimates().get(Parameter.RECEIVE_NIC);
    assertThat(fit.notes())
        .filteredOn(note -> note.startsWith("one of o_nsnd and o_nrcv is "))
        .singleElement()
        .asString()
        .matches("one of .* is (69\\d|7\\d\\d) ns, the other (at most|not known|6|7).*");
    assertThat(List.of(sending.source(), receiving.source()))
        .doesNotContain(Estimate.Source.FITTED);
  }

  @Test
  void tooFewMeasurementsGiveNoModel() {
    Optional<FitResult> none =
        Fit.of(
            List.of(new Observation(Observation.Kind.LATENCY, new Load(16, 1, 1), 100)),
            List.of(),
            true);
    assertThat(none).isEmpty();
  }
}
