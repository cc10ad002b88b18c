// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The latency and bandwidth of messages from one process to another.
 *
 * <p>A message of {@code k} bytes passes four stages in sequence: the sender's processor, the
 * sender's card, the receiver's card, and the receiver's processor. The latency of a single message
 * is the sum of the times of these stages until the receiver has the message, plus the latency
 * between the cards. In a stream the stages work concurrently, and the slowest sets the pace: the
 * bandwidth is the <em>minimum</em> over the bandwidths of the stages.
 */
public final class PerformanceModel {

  /** Stages with a smaller relative difference are equally slow. */
  private static final double TIE = 0.01;

  private static final Stage[] STAGES = Stage.values();

  private static final List<Parameter> LATENCY_PARTS =
      List.of(
          Parameter.SEND_OVERHEAD,
          Parameter.SEND_NIC,
          Parameter.BYTE_GAP,
          Parameter.LATENCY,
          Parameter.RECEIVE_NIC,
          Parameter.RECEIVE_OVERHEAD);

  private final double[] values =
      new double[Parameter.values().length]; // an array: a fit reads it millions of times
  private final boolean acknowledged;

  /**
   * Creates a model, in which missing parameters are 0. If messages are {@code acknowledged}, as
   * over RDMA, one counts as sent only when its acknowledgment has arrived, so that the number of
   * unacknowledged messages limits the rate.
   */
  public PerformanceModel(Map<Parameter, Double> values, boolean acknowledged) {
    values.forEach((parameter, value) -> {
      if (!(value >= 0) || Double.isInfinite(value)) {
        throw new IllegalArgumentException(parameter.symbol() + " is " + value);
      }
      this.values[parameter.ordinal()] = value;
    });
    this.acknowledged = acknowledged;
  }

  static PerformanceModel of(Map<Parameter, Estimate> estimates, boolean acknowledged) {
    Map<Parameter, Double> values = new EnumMap<>(Parameter.class);
    estimates.forEach((parameter, estimate) -> values.put(parameter, estimate.value()));
    return new PerformanceModel(values, acknowledged);
  }

  public double get(Parameter parameter) {
    return values[parameter.ordinal()];
  }

  public boolean acknowledged() {
    return acknowledged;
  }

  /** Returns the time of the bytes after the first; 0 also for a message without bytes. */
  private double bytesNanos(int sizeBytes) {
    return Math.max(0, sizeBytes - 1) * get(Parameter.BYTE_GAP);
  }

  /**
   * Returns the time of the bytes after the first if no other message is in flight, so that copies
   * and hops do not overlap.
   */
  private double loneBytesNanos(int sizeBytes) {
    return bytesNanos(sizeBytes) + Math.max(0, sizeBytes - 1) * get(Parameter.BYTE_ALONE);
  }

  /**
   * Returns the latency of a single message: {@code o_snd + o_nsnd + (k-1)(G + G_alone) + L +
   * o_nrcv + o_rcv}.
   */
  public double latencyNanos(int sizeBytes) {
    return get(Parameter.SEND_OVERHEAD)
        + get(Parameter.SEND_NIC)
        + loneBytesNanos(sizeBytes)
        + get(Parameter.LATENCY)
        + get(Parameter.RECEIVE_NIC)
        + get(Parameter.RECEIVE_OVERHEAD);
  }

  /**
   * Returns the time until a message is acknowledged. The card acknowledges it, so the receiver's
   * processor is not involved: {@code o_snd + o_nsnd + (k-1)(G + G_alone) + 2L + o_nrcv}.
   */
  public double acknowledgmentNanos(int sizeBytes) {
    return get(Parameter.SEND_OVERHEAD)
        + get(Parameter.SEND_NIC)
        + loneBytesNanos(sizeBytes)
        + 2 * get(Parameter.LATENCY)
        + get(Parameter.RECEIVE_NIC);
  }

  /** Returns the time of a stage for each message of a stream. */
  public double stageNanos(Stage stage, Load load) {
    return switch (stage) {
      case SENDER_CPU -> sendNanos(load.batch()) + get(Parameter.SEND_GAP);
      case SENDER_NIC -> get(Parameter.SEND_NIC) + bytesNanos(load.sizeBytes());
      case RECEIVER_NIC -> get(Parameter.RECEIVE_NIC) + bytesNanos(load.sizeBytes());
      case EITHER_NIC ->
          Math.max(stageNanos(Stage.SENDER_NIC, load), stageNanos(Stage.RECEIVER_NIC, load));
      case LINK -> bytesNanos(load.sizeBytes());
      case RECEIVER_CPU -> get(Parameter.RECEIVE_OVERHEAD) + get(Parameter.RECEIVE_GAP);
      case ACKNOWLEDGMENT ->
          acknowledged ? acknowledgmentNanos(load.sizeBytes()) / load.unacked() : 0;
      case PROCESSORS -> 0; // one connection has as many as it needs
    };
  }

  /**
   * Returns the time of a stage per message, over several connections together. Over RDMA they
   * share the cards; in shared memory, where the transfer of cache lines between two processors is
   * the "card", each has its own. If a host has fewer processors than threads, the threads share
   * them.
   */
  public double stageNanos(Stage stage, Concurrency concurrency) {
    Load load = concurrency.load();
    double one = stageNanos(stage, load);
    return switch (stage) {
      case SENDER_CPU -> one / concurrency.busy(concurrency.senders());
      case RECEIVER_CPU -> one / concurrency.busy(concurrency.receivers());
      case ACKNOWLEDGMENT -> one / concurrency.connections();
      case SENDER_NIC, RECEIVER_NIC, EITHER_NIC, LINK ->
          acknowledged ? one : one / concurrency.connections();
      case PROCESSORS -> sharedNanos(concurrency);
    };
  }

  /**
   * Returns the time of the processors per message if there are fewer of them than threads; 0
   * otherwise.
   */
  private double sharedNanos(Concurrency concurrency) {
    Load load = concurrency.load();
    int senders = concurrency.busy(concurrency.senders());
    int receivers = concurrency.busy(concurrency.receivers());
    Processors processors = concurrency.processors();
    if (processors.suffice(senders, receivers)) {
      return 0;
    }
    if (processors.shared()) {
      return processorNanos(load) / processors.all();
    }
    double sending = senders <= processors.client() ? 0 : senderNanos(load) / processors.client();
    double receiving =
        receivers <= processors.server() ? 0 : receiverNanos(load) / processors.server();
    return Math.max(sending, receiving);
  }

  /**
   * Returns the processor time of each message of a stream, on both sides. In shared memory the
   * processors also transfer the bytes, and are the "cards".
   */
  public double processorNanos(Load load) {
    return senderNanos(load) + receiverNanos(load);
  }

  private double senderNanos(Load load) {
    double nanos = stageNanos(Stage.SENDER_CPU, load);
    return acknowledged ? nanos : nanos + stageNanos(Stage.SENDER_NIC, load);
  }

  private double receiverNanos(Load load) {
    double nanos = stageNanos(Stage.RECEIVER_CPU, load);
    return acknowledged ? nanos : nanos + stageNanos(Stage.RECEIVER_NIC, load);
  }

  /** Returns the time of posting each message of a batch. */
  private double sendNanos(int batch) {
    double whole = get(Parameter.SEND_OVERHEAD);
    double once = Math.min(whole, get(Parameter.DOORBELL));
    return whole - once + once / batch;
  }

  /** Returns the time from one message of a stream to the next: the time of the slowest stage. */
  public double periodNanos(Load load) {
    double period = 0;
    for (Stage stage : STAGES) {
      period = Math.max(period, stageNanos(stage, load));
    }
    return period;
  }

  /** Returns the time from one message to the next, over several connections together. */
  public double periodNanos(Concurrency concurrency) {
    double period = 0;
    for (Stage stage : STAGES) {
      period = Math.max(period, stageNanos(stage, concurrency));
    }
    return period;
  }

  /** Returns the stage that sets the pace of one or several connections. */
  public Stage bottleneck(Concurrency concurrency) {
    double period = periodNanos(concurrency);
    for (Stage stage :
        List.of(Stage.PROCESSORS, Stage.ACKNOWLEDGMENT, Stage.SENDER_CPU, Stage.RECEIVER_CPU)) {
      if (stageNanos(stage, concurrency) == period) {
        return stage;
      }
    }
    if (stageNanos(Stage.LINK, concurrency) > period / 2) {
      return Stage.LINK;
    }
    double sending = stageNanos(Stage.SENDER_NIC, concurrency);
    double receiving = stageNanos(Stage.RECEIVER_NIC, concurrency);
    if (Math.abs(sending - receiving) <= TIE * period) {
      return Stage.EITHER_NIC;
    }
    return sending > receiving ? Stage.SENDER_NIC : Stage.RECEIVER_NIC;
  }

  /** Returns the parameter with the largest part in {@link #latencyNanos}. */
  public Parameter greatestPart(int sizeBytes) {
    return LATENCY_PARTS.stream()
        .max(Comparator.comparingDouble(part -> partNanos(part, sizeBytes)))
        .orElseThrow();
  }

  /**
   * Returns a parameter's part in the latency. That of {@code G} is the time of all bytes,
   * including their additional time in a single message.
   */
  public double partNanos(Parameter parameter, int sizeBytes) {
    if (!LATENCY_PARTS.contains(parameter)) {
      return 0;
    }
    return parameter == Parameter.BYTE_GAP ? loneBytesNanos(sizeBytes) : get(parameter);
  }
}
