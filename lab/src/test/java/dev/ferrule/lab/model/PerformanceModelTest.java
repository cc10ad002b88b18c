// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;

class PerformanceModelTest {

  private static final double EXACT = 1e-9;

  /** Round figures near those of a card of 100 Gbit/s. */
  static final Map<Parameter, Double> CARD =
      Map.of(
          Parameter.LATENCY, 1900.0,
          Parameter.BYTE_GAP, 0.08,
          Parameter.BYTE_ALONE, 0.04,
          Parameter.SEND_GAP, 30.0,
          Parameter.SEND_OVERHEAD, 120.0,
          Parameter.SEND_NIC, 60.0,
          Parameter.RECEIVE_NIC, 70.0,
          Parameter.RECEIVE_OVERHEAD, 50.0,
          Parameter.RECEIVE_GAP, 16.0,
          Parameter.DOORBELL, 100.0);

  private final PerformanceModel model = new PerformanceModel(CARD, true);

  @Test
  void theLatencyIsTheSumOfAllStagesAndOfTheNetwork() {
    // 120 + 60 + 1900 + 70 + 50, and 1023 bytes more of 0.08 + 0.04 ns
    assertThat(model.latencyNanos(1)).isCloseTo(2200, within(EXACT));
    assertThat(model.latencyNanos(1024)).isCloseTo(2322.76, within(EXACT));
  }

  @Test
  void aMessageWithoutBytesTakesNoLessThanOneOfOneByte() {
    assertThat(model.latencyNanos(0)).isEqualTo(model.latencyNanos(1));
  }

  @Test
  void theSlowestStageSetsThePace() {
    Load shortOnes = new Load(16, 1024, 1);
    assertThat(model.stageNanos(Stage.SENDER_CPU, shortOnes)).isCloseTo(150, within(EXACT));
    assertThat(model.stageNanos(Stage.SENDER_NIC, shortOnes)).isCloseTo(61.2, within(EXACT));
    assertThat(model.stageNanos(Stage.RECEIVER_NIC, shortOnes)).isCloseTo(71.2, within(EXACT));
    assertThat(model.stageNanos(Stage.RECEIVER_CPU, shortOnes)).isCloseTo(66, within(EXACT));
    assertThat(model.periodNanos(shortOnes)).isCloseTo(150, within(EXACT));
    assertThat(model.bottleneck(Concurrency.of(shortOnes))).isEqualTo(Stage.SENDER_CPU);
  }

  /**
   * The KnowYourMemory thesis takes the maximum of the stages' bandwidths, which would be 16 B / 61
   * ns.
   */
  @Test
  void theBandwidthIsTheMinimumOverTheStagesAndNotTheMaximum() {
    Load load = new Load(16, 1024, 1);
    double bandwidth = 16 / model.periodNanos(load);
    for (Stage stage : Stage.values()) {
      assertThat(bandwidth).isLessThanOrEqualTo(16 / model.stageNanos(stage, load) + EXACT);
    }
  }

  @Test
  void longMessagesAreBoundByTheirBytes() {
    Load load = new Load(8192, 1024, 1);
    assertThat(model.periodNanos(load)).isCloseTo(70 + 8191 * 0.08, within(EXACT));
    assertThat(model.bottleneck(Concurrency.of(load))).isEqualTo(Stage.LINK);
  }

  @Test
  void aBatchPaysForItsDoorbellOnce() {
    Load batched = new Load(16, 1024, 8);
    // 20 for each, an eighth of 100, and 30 between two
    assertThat(model.stageNanos(Stage.SENDER_CPU, batched)).isCloseTo(62.5, within(EXACT));
    assertThat(model.bottleneck(Concurrency.of(batched))).isEqualTo(Stage.RECEIVER_NIC);
  }

  @Test
  void oneUnacknowledgedMessageWaitsForTheRoundTrip() {
    Load one = new Load(1, 1, 1);
    // 120 + 60 + 2 * 1900 + 70: more than 2L, which the thesis has for g_snd
    assertThat(model.periodNanos(one)).isCloseTo(4050, within(EXACT));
    assertThat(model.bottleneck(Concurrency.of(one))).isEqualTo(Stage.ACKNOWLEDGMENT);
    assertThat(model.periodNanos(new Load(1, 10, 1))).isCloseTo(405, within(EXACT));
    // and its bytes do not overlap with others
    assertThat(model.periodNanos(new Load(1001, 1, 1))).isCloseTo(4170, within(EXACT));
  }

  @Test
  void withoutAcknowledgmentsTheirNumberDoesNotMatter() {
    PerformanceModel none = new PerformanceModel(CARD, false);
    assertThat(none.periodNanos(new Load(16, 1, 1)))
        .isEqualTo(none.periodNanos(new Load(16, 1024, 1)));
  }

  @Test
  void equalCardsAreNotDistinguished() {
    PerformanceModel alike =
        new PerformanceModel(
            Map.of(Parameter.SEND_NIC, 500.0, Parameter.RECEIVE_NIC, 501.0), false);
    assertThat(alike.bottleneck(Concurrency.of(new Load(1, 1, 1)))).isEqualTo(Stage.EITHER_NIC);
  }

  @Test
  void invalidValuesAreRejected() {
    assertThatThrownBy(() -> new PerformanceModel(Map.of(Parameter.LATENCY, -1.0), true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("L is -1");
    assertThatThrownBy(() -> new Load(1, 0, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> new Observation(Observation.Kind.LATENCY, new Load(1, 1, 1), Double.NaN))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private Concurrency concurrency(int connections, int senders, int receivers, int processors) {
    return concurrency(connections, senders, receivers, Processors.ofOneHost(processors));
  }

  private Concurrency concurrency(
      int connections, int senders, int receivers, Processors processors) {
    return new Concurrency(new Load(16, 64, 1), connections, senders, receivers, processors);
  }

  @Test
  void connectionsShareTheCardsAndThreadsShareTheConnections() {
    // one connection: the sender's processor, 120 + 30
    assertThat(model.periodNanos(concurrency(1, 1, 1, 8))).isCloseTo(150, within(EXACT));
    assertThat(model.bottleneck(concurrency(1, 1, 1, 8))).isEqualTo(Stage.SENDER_CPU);
    // two: 150 / 2, and 70 + 15 * 0.08 of a card
    assertThat(model.periodNanos(concurrency(2, 2, 2, 8))).isCloseTo(75, within(EXACT));
    // four: the receiving card is shared by all
    assertThat(model.periodNanos(concurrency(4, 4, 4, 8))).isCloseTo(71.2, within(EXACT));
    assertThat(model.bottleneck(concurrency(4, 4, 4, 8))).isEqualTo(Stage.RECEIVER_NIC);
    // in shared memory no card is shared: 150 / 4
    PerformanceModel lines = new PerformanceModel(CARD, false);
    assertThat(lines.periodNanos(concurrency(4, 4, 4, 8))).isCloseTo(37.5, within(EXACT));
    // one thread that receives: 50 + 16
    assertThat(lines.periodNanos(concurrency(4, 4, 1, 8))).isCloseTo(66, within(EXACT));
    assertThat(lines.bottleneck(concurrency(4, 4, 1, 8))).isEqualTo(Stage.RECEIVER_CPU);
  }

  @Test
  void moreThreadsThanProcessorsShareThem() {
    PerformanceModel lines = new PerformanceModel(CARD, false);
    // (150 + 66 + 61.2 + 71.2) / 2
    assertThat(lines.periodNanos(concurrency(4, 4, 4, 2))).isCloseTo(174.2, within(EXACT));
    // cards do not need the processors: (150 + 66) / 2
    assertThat(model.periodNanos(concurrency(4, 4, 4, 2))).isCloseTo(108, within(EXACT));
    assertThat(lines.bottleneck(concurrency(4, 4, 4, 2))).isEqualTo(Stage.PROCESSORS);
    // threads without a connection are idle
    assertThat(lines.periodNanos(concurrency(1, 4, 4, 2))).isCloseTo(150, within(EXACT));
  }

  @Test
  void threadsShareTheProcessorsOfTheirOwnHost() {
    PerformanceModel lines = new PerformanceModel(CARD, false);
    // enough on each host: 150 / 4
    assertThat(lines.periodNanos(concurrency(4, 4, 4, Processors.ofTwoHosts(4, 4))))
        .isCloseTo(37.5, within(EXACT));
    // the client's threads share its host: (150 + 61.2) / 2
    Concurrency fewAtTheClient = concurrency(4, 4, 4, Processors.ofTwoHosts(2, 8));
    assertThat(lines.periodNanos(fewAtTheClient)).isCloseTo(105.6, within(EXACT));
    assertThat(lines.bottleneck(fewAtTheClient)).isEqualTo(Stage.PROCESSORS);
    // the server's share its own: (66 + 71.2) / 2
    assertThat(lines.periodNanos(concurrency(4, 4, 4, Processors.ofTwoHosts(8, 2))))
        .isCloseTo(68.6, within(EXACT));
    // both do: the slower host sets the pace
    assertThat(lines.periodNanos(concurrency(4, 4, 4, Processors.ofTwoHosts(2, 2))))
        .isCloseTo(105.6, within(EXACT));
  }

  @Test
  void theGreatestPartOfTheLatencyIsNamed() {
    assertThat(model.greatestPart(16)).isEqualTo(Parameter.LATENCY);
    assertThat(model.greatestPart(1 << 20)).isEqualTo(Parameter.BYTE_GAP);
    assertThat(model.partNanos(Parameter.BYTE_GAP, 1001)).isCloseTo(120, within(EXACT));
    assertThat(model.partNanos(Parameter.SEND_GAP, 16)).isZero();
  }
}
