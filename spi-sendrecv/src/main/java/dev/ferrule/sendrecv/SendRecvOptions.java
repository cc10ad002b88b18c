// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import dev.ferrule.sendrecv.queue.SendQueue;
import java.util.ArrayList;
import java.util.List;

/** The provider's own options, and what they make of the memory of a connection. */
public final class SendRecvOptions {

  private static final long AUTOMATIC_RECEIVE_MEMORY = 4L << 20;
  private static final int MIN_RECEIVES = 8;
  private static final int AUTOMATIC_RECEIVES = 256;
  private static final int MAX_RECEIVES = 16_384;
  private static final long SHARED_RECEIVE_MEMORY = 16L << 20;
  private static final int MIN_SHARED_RECEIVES = 64;
  private static final int MAX_SHARED_RECEIVES = 4096;
  private static final int MESSAGES_IN_BUFFER = 4;
  private static final long MIN_BUFFER = 256 << 10;
  private static final long MAX_BUFFER = 64 << 20;

  /** {@code unacked}. */
  public static final Option<Integer> UNACKED =
      Option.count(
          "unacked",
          1,
          16_384,
          64,
          "how many messages that this side sends may be unacknowledged by the peer's device");

  /** {@code receives}. */
  public static final Option<Integer> RECEIVES =
      Option.count(
          "receives",
          0,
          MAX_RECEIVES,
          0,
          "how many receive buffers of maxMessage bytes this side posts; 0 is as many as fit into 4"
              + " MiB, but 8 to 256");

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

  /** {@code credits}. */
  public static final Option<OnOff> CREDITS =
      Option.choice(
          "credits",
          OnOff.class,
          OnOff.ON,
          "whether a side sends only what the other has posted receives for; both sides have to"
              + " want it");

  /** {@code hello}. */
  public static final Option<OnOff> HELLO =
      Option.choice(
          "hello",
          OnOff.class,
          OnOff.ON,
          "off for a peer that is not Ferrule and uses plain SEND and RECV: no hello, no immediate"
              + " data, no credits, no payloads");

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
          1,
          31,
          14,
          "how long the device waits for an acknowledgement before it repeats a message: 4.096 µs"
              + " times two to the power of this; 14 is 67 ms");

  /** {@code retries}. */
  public static final Option<Integer> RETRIES =
      Option.count(
          "retries",
          0,
          7,
          6, // rdma_rxe takes 7 for endless, and would never notice that a host is dead
          "how often the device repeats it before the peer is lost; with 7, rdma_rxe never stops");

  /** {@code srq}. */
  public static final Option<OnOff> SRQ =
      Option.choice(
          "srq",
          OnOff.class,
          OnOff.OFF,
          "listener: whether all its connections share one group of receive buffers, of which"
              + " receives is the number (0: as many as fit into 16 MiB, but 64 to 4096)");

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

  private SendRecvOptions() {}

  static List<Option<?>> all() {
    List<Option<?>> result = new ArrayList<>(StandardOptions.all());
    result.addAll(
        List.of(
            UNACKED,
            RECEIVES,
            BUFFER,
            INLINE,
            CREDITS,
            HELLO,
            RNR_RETRY,
            MIN_RNR_TIMER,
            ACK_TIMEOUT,
            RETRIES,
            SRQ,
            SINGLE_RECEIVER));
    return List.copyOf(result);
  }

  /**
   * Returns how many receive buffers to post.
   *
   * @param options the options
   * @return the number, for messages
   */
  public static int receives(ConnectionOptions options) {
    int wanted = options.get(RECEIVES);
    long fitting = AUTOMATIC_RECEIVE_MEMORY / options.get(StandardOptions.MAX_MESSAGE);
    return wanted > 0 ? wanted : Math.clamp(fitting, MIN_RECEIVES, AUTOMATIC_RECEIVES);
  }

  /**
   * Returns how many receive buffers to share.
   *
   * @param options the options
   * @return the number
   */
  public static int sharedReceives(ConnectionOptions options) {
    int wanted = options.get(RECEIVES);
    long fitting = SHARED_RECEIVE_MEMORY / options.get(StandardOptions.MAX_MESSAGE);
    return wanted > 0 ? wanted : Math.clamp(fitting, MIN_SHARED_RECEIVES, MAX_SHARED_RECEIVES);
  }

  /**
   * Returns how much memory to send from.
   *
   * @param options the options
   * @param peerMaxMessage the longest message that the peer takes, in bytes
   * @return the size in bytes, whole lines
   */
  public static long sendMemory(ConnectionOptions options, int peerMaxMessage) {
    long wanted = options.get(BUFFER);
    long size =
        wanted > 0 // and as large as one message at least, unless that is unheard-of
            ? Math.max(wanted, Math.min(peerMaxMessage, MAX_BUFFER))
            : Math.clamp((long) MESSAGES_IN_BUFFER * peerMaxMessage, MIN_BUFFER, MAX_BUFFER);
    return (size + SendQueue.LINE - 1) / SendQueue.LINE * SendQueue.LINE;
  }

  /**
   * Tells whether this side wants credits, and has a hello to agree on them.
   *
   * @param options the options
   * @return whether it does
   */
  public static boolean usesCredits(ConnectionOptions options) {
    return isOn(options, CREDITS) && isOn(options, HELLO);
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
