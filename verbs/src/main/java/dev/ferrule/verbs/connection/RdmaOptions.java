// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import dev.ferrule.verbs.queue.SendQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The options that both RDMA providers have, and what they make of the memory of a connection. */
public final class RdmaOptions {

  private static final int MESSAGES_IN_BUFFER = 4;
  private static final long MIN_BUFFER = 256 << 10;
  private static final long MAX_BUFFER = 64 << 20;

  /**
   * {@code connectTimeout}, with a longer default than others: before a client has its answer, each
   * side has to load libraries and to register memory, which takes many seconds in two cold JVMs on
   * a loaded or an emulated machine.
   */
  public static final Option<Duration> CONNECT_TIMEOUT =
      Option.duration(
          StandardOptions.CONNECT_TIMEOUT.name(),
          Duration.ofMillis(1),
          Duration.ofHours(24),
          Duration.ofSeconds(30),
          "how long connecting waits for the network and the listener, and accepting for the"
              + " client's confirmation");

  /** {@code unacked}. */
  public static final Option<Integer> UNACKED =
      Option.count(
          "unacked",
          1,
          16_384,
          64,
          "how many messages that this side sends may be unacknowledged by the peer's device");

  /** {@code buffer}. */
  public static final Option<Long> BUFFER =
      Option.size(
          "buffer",
          0,
          1L << 30,
          0,
          "memory that this side sends from; 0 is four times the longest message that the peer"
              + " takes, but 256 KiB to 64 MiB; longer messages than that cannot be sent");

  /** {@code inline}. */
  public static final Option<Long> INLINE =
      Option.size(
          "inline",
          0,
          4096,
          220,
          "messages up to so many bytes go to the device in the work request itself, as far as the"
              + " device can; 0 for none");

  /** {@code rnrRetry}. */
  public static final Option<Integer> RNR_RETRY =
      Option.count(
          "rnrRetry",
          0,
          7,
          7,
          "how often the peer repeats a message for which no receive was posted; 7 is for ever");

  /** {@code minRnrTimer}. */
  public static final Option<Integer> MIN_RNR_TIMER =
      Option.count(
          "minRnrTimer",
          0,
          31,
          12,
          "how long the peer waits before it does, as the InfiniBand specification counts it: 12 is"
              + " 0.64 ms, 0 is 655 ms");

  /** {@code ackTimeout}. */
  public static final Option<Integer> ACK_TIMEOUT =
      Option.count(
          "ackTimeout",
          0,
          31,
          0,
          "how long the device waits for an acknowledgement before it repeats a message: 4.096 µs"
              + " times two to the power of this; 0 is 14 (67 ms), but 18 (1.07 s) with hello=off,"
              + " where it has to be longer than the RNR timer of the peer");

  /** {@code retries}. */
  public static final Option<Integer> RETRIES =
      Option.count(
          "retries",
          0,
          7,
          6, // rdma_rxe takes 7 for endless, and would never notice that a host is dead
          "how often the device repeats it before the peer is lost; with 7, rdma_rxe never stops");

  /** {@code singleReceiver}. */
  public static final Option<OnOff> SINGLE_RECEIVER =
      Option.choice(
          "singleReceiver",
          OnOff.class,
          OnOff.OFF,
          "listener: whether all its connections share one completion queue, so that"
              + " Listener.receiver() receives from all of them");

  /** A choice. */
  public enum OnOff {
    /** Yes. */
    ON,
    /** No. */
    OFF
  }

  /** What {@code ackTimeout=0} stands for, with a handshake: 67 ms. */
  private static final int QUICK_ACK_TIMEOUT = 14;

  /**
   * The same without: 1.07 s. A peer that is not Ferrule has the RNR timer that librdmacm leaves it
   * with, 655 ms. Devices that count a wait for it as a repetition (rdma_rxe) take the peer for
   * dead unless the acknowledgement has longer than that.
   */
  private static final int PATIENT_ACK_TIMEOUT = 18;

  private RdmaOptions() {}

  /**
   * Returns the standard options as both providers have them.
   *
   * @return the options, in the order in which to show them
   */
  public static List<Option<?>> standard() {
    List<Option<?>> result = new ArrayList<>(StandardOptions.all());
    result.replaceAll(
        option -> option.name().equals(CONNECT_TIMEOUT.name()) ? CONNECT_TIMEOUT : option);
    return result;
  }

  /** How long the device waits for an acknowledgement, in the form that it takes. */
  static int ackTimeout(ConnectionOptions options, boolean hasHandshake) {
    int wanted = options.get(ACK_TIMEOUT);
    return wanted > 0 ? wanted : hasHandshake ? QUICK_ACK_TIMEOUT : PATIENT_ACK_TIMEOUT;
  }

  /** How much memory to send from, in bytes: whole lines. */
  static long sendMemory(ConnectionOptions options, int peerMaxMessage) {
    long wanted = options.get(BUFFER);
    long size =
        wanted > 0 // and as large as one message at least, unless that is unheard-of
            ? Math.max(wanted, Math.min(peerMaxMessage, MAX_BUFFER))
            : Math.clamp((long) MESSAGES_IN_BUFFER * peerMaxMessage, MIN_BUFFER, MAX_BUFFER);
    return (size + SendQueue.LINE - 1) / SendQueue.LINE * SendQueue.LINE;
  }

  /**
   * Tells whether a choice is on.
   *
   * @param options the options
   * @param option the choice
   * @return whether it is
   */
  public static boolean isOn(ConnectionOptions options, Option<OnOff> option) {
    return options.get(option) == OnOff.ON;
  }
}
