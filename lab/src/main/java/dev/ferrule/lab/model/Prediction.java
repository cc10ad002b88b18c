// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * A model's prediction for nodes that have not been measured.
 *
 * @param messagesPerSecond the number of messages that one node receives
 * @param cpuMessagesPerSecond the rate that the threads of both sides, and their processors, allow
 * @param nicMessagesPerSecond the rate that its card allows; in shared memory, the rate that the
 *     transfer of cache lines of all its connections allows
 */
public record Prediction(
    double messagesPerSecond,
    double bytesPerSecond,
    Stage bottleneck,
    double cpuMessagesPerSecond,
    double nicMessagesPerSecond) {

  private static final double NANOS_PER_SECOND = 1e9;

  /**
   * Predicts the rate of a scenario.
   *
   * <p>Each sender is as fast as its slowest stage. The receivers' stages are shared: one card for
   * all connections of a node, and as many processors as it has threads. In shared memory, where
   * the transfer of cache lines between two processors is the "card", each connection has its own,
   * and all nodes share the host's processors. The model does not include a network between the
   * nodes that is slower than their cards, nor cards that slow down with many queue pairs.
   */
  public static Prediction of(PerformanceModel model, Scenario scenario) {
    Load load = scenario.load();
    boolean toAll = scenario.pattern() == Scenario.Pattern.ALL_TO_ALL;
    int connections = scenario.connections();
    // In N:1 a sender has one connection, which one thread serves.
    double sendingThreads = toAll ? Math.min(scenario.threads(), connections) : 1;
    // sending nodes for each receiving node
    double sending = toAll ? 1 : scenario.nodes();
    double cards = model.acknowledged() ? 1 : connections;
    double sendingCards = model.acknowledged() ? sending : connections;
    double receiving = Math.min(scenario.threads(), connections);
    Best best = new Best();
    best.limit(
        Stage.ACKNOWLEDGMENT, connections * rate(model.stageNanos(Stage.ACKNOWLEDGMENT, load)));
    double sendingCpu = sending * sendingThreads * rate(model.stageNanos(Stage.SENDER_CPU, load));
    best.limit(Stage.SENDER_CPU, sendingCpu);
    best.limit(Stage.SENDER_NIC, sendingCards * rate(model.stageNanos(Stage.SENDER_NIC, load)));
    double nic = cards * rate(model.stageNanos(Stage.RECEIVER_NIC, load));
    best.limit(Stage.RECEIVER_NIC, nic);
    double receivingCpu = receiving * rate(model.stageNanos(Stage.RECEIVER_CPU, load));
    best.limit(Stage.RECEIVER_CPU, receivingCpu);
    double cpu = Math.min(sendingCpu, receivingCpu);
    if (scenario.processors() > 0) {
      double processors = (double) scenario.processors() / scenario.receivers();
      double shared = processors * rate(model.processorNanos(load));
      best.limit(Stage.PROCESSORS, shared);
      cpu = Math.min(cpu, shared);
    }
    Stage bottleneck = best.stage;
    if ((bottleneck == Stage.SENDER_NIC || bottleneck == Stage.RECEIVER_NIC)
        && model.stageNanos(Stage.LINK, load) > model.stageNanos(bottleneck, load) / 2) {
      bottleneck = Stage.LINK;
    }
    return new Prediction(best.rate, best.rate * load.sizeBytes(), bottleneck, cpu, nic);
  }

  private static double rate(double nanos) {
    return nanos <= 0 ? Double.POSITIVE_INFINITY : NANOS_PER_SECOND / nanos;
  }

  /** The minimum of several limits. */
  private static final class Best {
    private double rate = Double.POSITIVE_INFINITY;
    private Stage stage = Stage.LINK;

    private void limit(Stage limiting, double limit) {
      if (limit < rate) {
        rate = limit;
        stage = limiting;
      }
    }
  }
}
