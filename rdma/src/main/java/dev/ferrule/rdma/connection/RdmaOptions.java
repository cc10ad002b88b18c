// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.CompletionQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The options common to both RDMA providers, and the sizes of a connection's memory derived from
 * them.
 */
public final class RdmaOptions {

  /** The default of {@code unacked}. */
  private static final int MESSAGES_IN_AREA = 64;

  private static final long MAX_AREA_FOR_ALL = 4 << 20;
  private static final int LEAST_MESSAGES_IN_AREA = 4;
  private static final long MIN_AREA = 256 << 10;
  private static final long MAX_AREA = 64 << 20;

  /** The longest message for which MAX_AREA_FOR_ALL is enough. */
  private static final int USUAL_MESSAGE = (int) MAX_AREA_FOR_ALL / LEAST_MESSAGES_IN_AREA;

  /**
   * {@code maxMessage}, whose default is low: receive memory is pinned, and {@code sendrecv} needs
   * this size for each receive. With 64 KiB, 4 MiB hold 64 messages of any length.
   */
  public static final Option<Long> MAX_MESSAGE = StandardOptions.MAX_MESSAGE.withDefault(64L << 10);

  /** {@code peerTimeout}: the peer's device answers within milliseconds. */
  static final Option<Duration> PEER_TIMEOUT =
      StandardOptions.PEER_TIMEOUT.withDefault(Duration.ofSeconds(10));

  /** {@code connectTimeout}, with a description of what takes the time over RDMA. */
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
          "the maximum number of sent messages that the peer's device has not acknowledged");

  /** {@code sendBuffer}. */
  public static final Option<Long> SEND_BUFFER =
      Option.size(
          "sendBuffer",
          0,
          1L << 30,
          0,
          "size of the send memory, which limits the longest message that this side can send; 0 is"
              + " 64 times the peer's maxMessage, clamped to 256 KiB to 4 MiB, or 4 times, if that is"
              + " more, at most 64 MiB; at a listener the peer's maxMessage counts up to 1 MiB, or up"
              + " to its own");

  /** {@code pollBatch}. */
  public static final Option<Integer> POLL_BATCH =
      Option.count(
          "pollBatch",
          1,
          CompletionQueue.BATCH,
          CompletionQueue.BATCH,
          "how many received messages are taken from the device together, at most");

  /** {@code inline}. */
  public static final Option<Long> INLINE =
      Option.size(
          "inline",
          0,
          4096,
          220,
          "messages up to this size are sent inline, in the work request, up to the device's limit;"
              + " 0 for none");

  /** {@code rnrRetry}. */
  public static final Option<Integer> RNR_RETRY =
      Option.count(
          "rnrRetry",
          0,
          7,
          7,
          "how often the peer retries a message for which no receive was posted (RNR); 7 is without"
              + " limit");

  /** {@code minRnrTimer}. */
  public static final Option<Integer> MIN_RNR_TIMER =
      Option.count(
          "minRnrTimer",
          0,
          31,
          12,
          "how long the peer waits before an RNR retry, in the encoding of the InfiniBand"
              + " specification: 12 is 0.64 ms, 0 is 655 ms");

  /** {@code ackTimeout}. */
  public static final Option<Integer> ACK_TIMEOUT =
      Option.count(
          "ackTimeout",
          0,
          31,
          0,
          "how long the device waits for an acknowledgment before it retransmits a message: 4.096"
              + " µs times two to the power of this; 0 is not infinite, but 14 (67 ms), and with"
              + " hello=off 18 (1.07 s): the timeout must exceed the peer's RNR timer, 655 ms by default of librdmacm");

  /** {@code retries}. */
  public static final Option<Integer> RETRIES =
      Option.count(
          "retries",
          0,
          7,
          6, // rdma_rxe treats 7 as infinite, and would never detect a dead host
          "the number of retransmissions before the peer is lost, for both sides the value of the"
              + " client; 7 is infinite with rdma_rxe");

  /** {@code singleReceiver}. */
  public static final Option<OnOff> SINGLE_RECEIVER =
      Option.choice(
          "singleReceiver",
          OnOff.class,
          OnOff.OFF,
          "listener: whether its connections share one completion queue, so that"
              + " Listener.receiver() receives from all of them");

  /** The values of an option that is on or off. */
  public enum OnOff {
    /** Yes. */
    ON,
    /** No. */
    OFF
  }

  /** The value of {@code ackTimeout=0} with a handshake: 67 ms. */
  private static final int QUICK_ACK_TIMEOUT = 14;

  /**
   * The value of {@code ackTimeout=0} without a handshake: 1.07 s. A peer that is not Ferrule has
   * librdmacm's default RNR timer, 655 ms. A device that counts an RNR wait as a retransmission
   * (rdma_rxe) treats the peer as dead unless the ACK timeout is longer than that.
   */
  private static final int PATIENT_ACK_TIMEOUT = 18;

  private RdmaOptions() {}

  /** {@return the standard options, with their defaults for RDMA, in display order} */
  public static List<Option<?>> standard() {
    List<Option<?>> result = new ArrayList<>(StandardOptions.all());
    result.set(result.indexOf(StandardOptions.MAX_MESSAGE), MAX_MESSAGE);
    result.set(result.indexOf(StandardOptions.CONNECT_TIMEOUT), CONNECT_TIMEOUT);
    result.set(result.indexOf(StandardOptions.PEER_TIMEOUT), PEER_TIMEOUT);
    return result;
  }

  /** Returns the ACK timeout, as the device encodes it. */
  static int ackTimeout(ResolvedOptions options, boolean hasHandshake) {
    int requested = options.get(ACK_TIMEOUT);
    return requested > 0 ? requested : hasHandshake ? QUICK_ACK_TIMEOUT : PATIENT_ACK_TIMEOUT;
  }

  /**
   * Returns the longest message that this side receives.
   *
   * @param options the options
   * @return the length in bytes
   */
  public static int maxMessage(ResolvedOptions options) {
    return Math.toIntExact(options.get(MAX_MESSAGE));
  }

  /**
   * Returns the default size of an area for messages, to send from or to receive into.
   *
   * @param maxMessage the longest message
   * @return the size in bytes: room for 64 such messages, clamped to 256 KiB to 4 MiB, or for 4 of
   *     them, at most 64 MiB
   */
  public static long areaFor(int maxMessage) {
    long all = Math.min((long) MESSAGES_IN_AREA * maxMessage, MAX_AREA_FOR_ALL);
    return Math.clamp(
        Math.max(all, (long) LEAST_MESSAGES_IN_AREA * maxMessage), MIN_AREA, MAX_AREA);
  }

  /**
   * Returns the size of a listener's send memory for a client. The client's limit counts up to the
   * listener's own, or up to 1 MiB: a client must not decide how much memory a server pins.
   */
  static long sendMemoryForClient(ResolvedOptions options, int clientMaxMessage) {
    int expected = Math.max(maxMessage(options), USUAL_MESSAGE);
    return sendMemory(options, Math.min(clientMaxMessage, expected));
  }

  /** Returns the size of the send memory in bytes, a multiple of a line. */
  static long sendMemory(ResolvedOptions options, int peerMaxMessage) {
    long requested = options.get(SEND_BUFFER);
    long size = requested > 0 ? requested : areaFor(peerMaxMessage);
    return (size + SendQueue.LINE - 1) / SendQueue.LINE * SendQueue.LINE;
  }

  /**
   * Returns whether an option is on.
   *
   * @param options the options
   * @param option the option
   * @return whether it is
   */
  public static boolean isOn(ResolvedOptions options, Option<OnOff> option) {
    return options.get(option) == OnOff.ON;
  }
}
