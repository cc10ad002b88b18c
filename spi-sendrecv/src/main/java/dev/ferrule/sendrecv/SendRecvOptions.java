// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Option;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.rdma.connection.RdmaOptions.OnOff;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.spi.ResolvedOptions;
import java.util.List;

/** The options specific to {@code sendrecv}, in addition to those of both RDMA providers. */
public final class SendRecvOptions {

  private static final long AUTOMATIC_RECEIVE_MEMORY = 4L << 20;
  private static final int MIN_RECEIVES = 8;
  private static final int AUTOMATIC_RECEIVES = 256;
  private static final int MAX_RECEIVES = 16_384;
  private static final long SHARED_RECEIVE_MEMORY = 16L << 20;
  private static final int MIN_SHARED_RECEIVES = 64;
  private static final int MAX_SHARED_RECEIVES = 4096;

  /** {@code receives}. */
  public static final Option<Integer> RECEIVES =
      Option.count(
          "receives",
          0,
          MAX_RECEIVES,
          0,
          "how many receive buffers of maxMessage bytes this side posts; 0: as many as fit into 4"
              + " MiB, but 8 to 256");

  /** {@code repostBatch}. */
  public static final Option<Integer> REPOST_BATCH =
      Option.count(
          "repostBatch",
          1,
          SendQueue.MAX_CHAIN,
          SendQueue.MAX_CHAIN,
          "how many freed receive buffers are posted together, at most; without srq at most 16, and"
              + " a quarter of receives");

  /** {@code credits}. */
  public static final Option<OnOff> CREDITS =
      Option.choice(
          "credits",
          OnOff.class,
          OnOff.ON,
          "whether a side sends only messages for which the peer has posted receives; both sides"
              + " must enable it");

  /** {@code hello}. */
  public static final Option<OnOff> HELLO =
      Option.choice(
          "hello",
          OnOff.class,
          OnOff.ON,
          "off for a peer that is not Ferrule and uses plain SEND and RECV: no hello, no immediate"
              + " data, no credits, no payloads");

  /** {@code srq}. */
  public static final Option<OnOff> SRQ =
      Option.choice(
          "srq",
          OnOff.class,
          OnOff.OFF,
          "listener: whether all its connections share one group of receive buffers; receives is"
              + " their number (0: as many as fit into 16 MiB, but 64 to 4096)");

  private SendRecvOptions() {}

  static List<Option<?>> all() {
    List<Option<?>> result = RdmaOptions.standard();
    result.addAll(
        List.of(
            RdmaOptions.UNACKED,
            RECEIVES,
            REPOST_BATCH,
            RdmaOptions.POLL_BATCH,
            RdmaOptions.SEND_BUFFER,
            RdmaOptions.INLINE,
            CREDITS,
            HELLO,
            RdmaOptions.RNR_RETRY,
            RdmaOptions.MIN_RNR_TIMER,
            RdmaOptions.ACK_TIMEOUT,
            RdmaOptions.RETRIES,
            SRQ,
            RdmaOptions.SINGLE_RECEIVER));
    return List.copyOf(result);
  }

  /**
   * Returns the number of receive buffers to post for messages.
   *
   * @param options the options
   * @return the number of buffers
   */
  public static int receives(ResolvedOptions options) {
    int chosen = options.get(RECEIVES);
    long fitting = AUTOMATIC_RECEIVE_MEMORY / RdmaOptions.maxMessage(options);
    return chosen > 0 ? chosen : Math.clamp(fitting, MIN_RECEIVES, AUTOMATIC_RECEIVES);
  }

  /**
   * Returns the number of shared receive buffers.
   *
   * @param options the options
   * @return the number
   */
  public static int sharedReceives(ResolvedOptions options) {
    int chosen = options.get(RECEIVES);
    long fitting = SHARED_RECEIVE_MEMORY / RdmaOptions.maxMessage(options);
    return chosen > 0 ? chosen : Math.clamp(fitting, MIN_SHARED_RECEIVES, MAX_SHARED_RECEIVES);
  }

  /**
   * Returns whether this side uses credits, which requires a hello to agree on them.
   *
   * @param options the options
   * @return true if credits and hello are on
   */
  public static boolean usesCredits(ResolvedOptions options) {
    return RdmaOptions.isOn(options, CREDITS) && RdmaOptions.isOn(options, HELLO);
  }
}
