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

  /** As many as are unacknowledged by default. */
  private static final int MESSAGES_IN_AREA = 64;

  private static final long MAX_AREA_FOR_ALL = 4 << 20;
  private static final int LEAST_MESSAGES_IN_AREA = 4;
  private static final long MIN_AREA = 256 << 10;
  private static final long MAX_AREA = 64 << 20;

  /**
   * {@code maxMessage}, with a lower default than elsewhere: memory for receiving is pinned, and
   * {@code sendrecv} needs so much of it for each receive. With 64 KiB, 4 MiB hold 64 messages of
   * any length.
   */
  public static final Option<Long> MAX_MESSAGE =
      Option.size(
          StandardOptions.MAX_MESSAGE.name(),
          1,
          1L << 30,
          64L << 10,
          "the longest message that this side receives");

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
          "memory that this side sends from, and so the longest message that it can send; 0 is room"
              + " for 64 of the longest messages that the peer takes, but 256 KiB to 4 MiB, or for 4"
              + " of them, but up to 64 MiB");

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
   * Returns the standard options, with the defaults that they have over RDMA.
   *
   * @return the options, in the order in which to show them
   */
  public static List<Option<?>> standard() {
    List<Option<?>> result = new ArrayList<>(StandardOptions.all());
    result.set(result.indexOf(StandardOptions.MAX_MESSAGE), MAX_MESSAGE);
    result.set(result.indexOf(StandardOptions.CONNECT_TIMEOUT), CONNECT_TIMEOUT);
    return result;
  }

  /** How long the device waits for an acknowledgement, in the form that it takes. */
  static int ackTimeout(ConnectionOptions options, boolean hasHandshake) {
    int wanted = options.get(ACK_TIMEOUT);
    return wanted > 0 ? wanted : hasHandshake ? QUICK_ACK_TIMEOUT : PATIENT_ACK_TIMEOUT;
  }

  /**
   * Returns the longest message that this side receives.
   *
   * @param options the options
   * @return the length in bytes
   */
  public static int maxMessage(ConnectionOptions options) {
    return Math.toIntExact(options.get(MAX_MESSAGE));
  }

  /**
   * Returns how large an area for messages is by default, to send from or to receive into.
   *
   * @param maxMessage the longest message in it
   * @return the size in bytes: room for 64 such messages, but 256 KiB to 4 MiB, or for 4 of them,
   *     but up to 64 MiB
   */
  public static long areaFor(int maxMessage) {
    long all = Math.min((long) MESSAGES_IN_AREA * maxMessage, MAX_AREA_FOR_ALL);
    return Math.clamp(
        Math.max(all, (long) LEAST_MESSAGES_IN_AREA * maxMessage), MIN_AREA, MAX_AREA);
  }

  /** How much memory to send from, in bytes: whole lines. */
  static long sendMemory(ConnectionOptions options, int peerMaxMessage) {
    long wanted = options.get(BUFFER);
    long size =
        wanted > 0 // and as large as one message at least, unless that is unheard-of
            ? Math.max(wanted, Math.min(peerMaxMessage, MAX_AREA))
            : areaFor(peerMaxMessage);
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
