// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Latency and bandwidth of messages from one process to another.
 *
 * <p>A message of {@code k} bytes passes four stages, one after the other: the sender's processor,
 * its card, the receiver's card, and its processor. By itself it takes the sum of what they do
 * before the receiver has it, and the way between the cards. In a stream the stages work at the
 * same time, so that the slowest sets the pace: the bandwidth is the <em>minimum</em> over what the
 * stages can do.
 */
public final class PerformanceModel {

  /** Two stages that differ by less are not told apart. */
  private static final double TIE = 0.01;

  private final Map<Parameter, Double> values;
  private final boolean acknowledged;

  /**
   * Creates a model.
   *
   * @param values the parameters, in their units; those that are missing are 0
   * @param acknowledged whether a message counts as sent only when its acknowledgement is back, as
   *     over RDMA, so that the number of unacknowledged messages limits the rate
   */
  public PerformanceModel(Map<Parameter, Double> values, boolean acknowledged) {
    EnumMap<Parameter, Double> all = new EnumMap<>(Parameter.class);
    for (Parameter parameter : Parameter.values()) {
      double value = values.getOrDefault(parameter, 0.0);
      if (!(value >= 0) || Double.isInfinite(value)) {
        throw new IllegalArgumentException(parameter.symbol() + " is " + value);
      }
      all.put(parameter, value);
    }
    this.values = Collections.unmodifiableMap(all);
    this.acknowledged = acknowledged;
  }

  /**
   * Returns a parameter.
   *
   * @param parameter which
   * @return its value, in its unit
   */
  public double get(Parameter parameter) {
    return values.get(parameter);
  }

  /**
   * Returns all parameters.
   *
   * @return each with its value
   */
  public Map<Parameter, Double> values() {
    return values;
  }

  /**
   * Tells whether the number of unacknowledged messages limits the rate.
   *
   * @return true if it does
   */
  public boolean acknowledged() {
    return acknowledged;
  }

  /** What the bytes after the first take; a message without bytes takes no less than one. */
  private double bytesNanos(int sizeBytes) {
    return Math.max(0, sizeBytes - 1) * get(Parameter.BYTE_GAP);
  }

  /**
   * How long a message takes by itself: {@code o_snd + o_nsnd + (k-1)G + L + o_nrcv + o_rcv}.
   *
   * @param sizeBytes its length
   * @return nanoseconds from one program to the other
   */
  public double latencyNanos(int sizeBytes) {
    return get(Parameter.SEND_OVERHEAD)
        + get(Parameter.SEND_NIC)
        + bytesNanos(sizeBytes)
        + get(Parameter.LATENCY)
        + get(Parameter.RECEIVE_NIC)
        + get(Parameter.RECEIVE_OVERHEAD);
  }

  /**
   * How long it takes until a message is acknowledged. The acknowledgement is made by the card, so
   * the receiver's processor has no part in it: {@code o_snd + o_nsnd + (k-1)G + 2L + o_nrcv}.
   *
   * @param sizeBytes its length
   * @return nanoseconds from the send on
   */
  public double acknowledgementNanos(int sizeBytes) {
    return get(Parameter.SEND_OVERHEAD)
        + get(Parameter.SEND_NIC)
        + bytesNanos(sizeBytes)
        + 2 * get(Parameter.LATENCY)
        + get(Parameter.RECEIVE_NIC);
  }

  /**
   * How long a stage needs for each message of a stream.
   *
   * @param stage one of those that a message passes
   * @param load how messages are sent
   * @return nanoseconds
   */
  public double stageNanos(Stage stage, Load load) {
    return switch (stage) {
      case SENDER_CPU -> sendNanos(load.batch()) + get(Parameter.SEND_GAP);
      case SENDER_NIC -> get(Parameter.SEND_NIC) + bytesNanos(load.sizeBytes());
      case RECEIVER_NIC -> get(Parameter.RECEIVE_NIC) + bytesNanos(load.sizeBytes());
      case EITHER_NIC ->
          Math.max(stageNanos(Stage.SENDER_NIC, load), stageNanos(Stage.RECEIVER_NIC, load));
      case LINK -> bytesNanos(load.sizeBytes());
      case RECEIVER_CPU -> get(Parameter.RECEIVE_OVERHEAD) + get(Parameter.RECEIVE_GAP);
      case ACKNOWLEDGEMENT ->
          acknowledged ? acknowledgementNanos(load.sizeBytes()) / load.unacked() : 0;
    };
  }

  /** What posting takes for each message of a batch. */
  private double sendNanos(int batch) {
    double whole = get(Parameter.SEND_OVERHEAD);
    double once = Math.min(whole, get(Parameter.DOORBELL));
    return whole - once + once / batch;
  }

  /**
   * How long passes from one message of a stream to the next: the time of the slowest stage.
   *
   * @param load how messages are sent
   * @return nanoseconds; 0 if no stage takes any time
   */
  public double periodNanos(Load load) {
    double period = 0;
    for (Stage stage : Stage.values()) {
      period = Math.max(period, stageNanos(stage, load));
    }
    return period;
  }

  /**
   * The stage that sets the pace.
   *
   * @param load how messages are sent
   * @return the slowest stage
   */
  public Stage bottleneck(Load load) {
    double period = periodNanos(load);
    if (stageNanos(Stage.ACKNOWLEDGEMENT, load) == period) {
      return Stage.ACKNOWLEDGEMENT;
    }
    if (stageNanos(Stage.SENDER_CPU, load) == period) {
      return Stage.SENDER_CPU;
    }
    if (stageNanos(Stage.RECEIVER_CPU, load) == period) {
      return Stage.RECEIVER_CPU;
    }
    if (stageNanos(Stage.LINK, load) > period / 2) {
      return Stage.LINK;
    }
    double sending = stageNanos(Stage.SENDER_NIC, load);
    double receiving = stageNanos(Stage.RECEIVER_NIC, load);
    if (Math.abs(sending - receiving) <= TIE * period) {
      return Stage.EITHER_NIC;
    }
    return sending > receiving ? Stage.SENDER_NIC : Stage.RECEIVER_NIC;
  }
}
