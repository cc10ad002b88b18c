// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import dev.ferrule.Option;
import dev.ferrule.magicring.ring.Acknowledge;
import dev.ferrule.magicring.ring.MagicBuffer;
import dev.ferrule.magicring.ring.Mapping;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.rdma.connection.RdmaOptions.OnOff;
import dev.ferrule.spi.ResolvedOptions;
import java.util.List;

/** The options specific to {@code magicring}, in addition to those of both RDMA providers. */
public final class MagicRingOptions {

  /** Devices limit receives to little more than twice this number. */
  private static final int MAX_WINDOW = 4096;

  /** {@code ring}. */
  public static final Option<Long> RING =
      Option.size(
          "ring",
          0,
          1L << 40,
          0,
          "the size of the ring that this side receives into, rounded up to whole pages, and to one"
              + " message of maxMessage (two with mapping=plain); 0 is 64 times maxMessage, clamped"
              + " to 256 KiB to 4 MiB, or 4 times, if that is more, at most 64 MiB");

  /** {@code window}. */
  public static final Option<Integer> WINDOW =
      Option.count(
          "window",
          1,
          MAX_WINDOW,
          256,
          "how many unacknowledged messages a sender may have; the lower value of both sides"
              + " applies");

  /** {@code mapping}. */
  public static final Option<Mapping> MAPPING =
      Option.choice(
          "mapping",
          Mapping.class,
          Mapping.MAGIC,
          "magic: this side's ring is mapped twice, so that messages may cross its end; plain:"
              + " once, and the space at the end that a message does not fit into is skipped");

  /** {@code hugePages}. */
  public static final Option<OnOff> HUGE_PAGES =
      Option.choice(
          "hugePages",
          OnOff.class,
          OnOff.OFF,
          "whether a magic ring of a multiple of 2 MiB uses huge pages, if the system has any"
              + " free");

  /** {@code acknowledge}. */
  public static final Option<Acknowledge> ACKNOWLEDGE =
      Option.choice(
          "acknowledge",
          Acknowledge.class,
          Acknowledge.BATCHED,
          "when this side acknowledges freed messages: each, every time that it frees one; batched,"
              + " when a quarter of the window or of the ring is free, or the sender lacks space");

  /** {@code simplex}. */
  public static final Option<OnOff> SIMPLEX =
      Option.choice(
          "simplex",
          OnOff.class,
          OnOff.OFF,
          "whether only the connecting side sends, so that one ring is needed instead of two; a"
              + " listener with it rejects all other clients");

  private MagicRingOptions() {}

  static List<Option<?>> all() {
    List<Option<?>> result = RdmaOptions.standard();
    result.addAll(
        List.of(
            RING,
            WINDOW,
            MAPPING,
            ACKNOWLEDGE,
            HUGE_PAGES,
            SIMPLEX,
            RdmaOptions.UNACKED,
            RdmaOptions.POLL_BATCH,
            RdmaOptions.SEND_BUFFER,
            RdmaOptions.INLINE,
            RdmaOptions.RNR_RETRY,
            RdmaOptions.MIN_RNR_TIMER,
            RdmaOptions.ACK_TIMEOUT,
            RdmaOptions.RETRIES,
            RdmaOptions.SINGLE_RECEIVER));
    return List.copyOf(result);
  }

  /**
   * Returns the size of the ring.
   *
   * @param options the options
   * @return the size in bytes, a multiple of the page size
   */
  public static long ringSize(ResolvedOptions options) {
    int maxMessage = RdmaOptions.maxMessage(options);
    long chosen = options.get(RING);
    long automatic = RdmaOptions.areaFor(maxMessage);
    long page = MagicBuffer.pageSize();
    long size =
        Math.max(chosen > 0 ? chosen : automatic, options.get(MAPPING).smallestFor(maxMessage));
    return (size + page - 1) / page * page;
  }
}
