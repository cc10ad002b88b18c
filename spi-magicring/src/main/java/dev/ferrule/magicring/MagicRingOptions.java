// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.magicring.ring.Mapping;
import dev.ferrule.verbs.connection.RdmaOptions;
import dev.ferrule.verbs.connection.RdmaOptions.OnOff;
import dev.ferrule.verbs.memory.MagicBuffer;
import java.util.List;

/** The provider's own options, beside those of both RDMA providers. */
public final class MagicRingOptions {

  /** The devices' limits on receives are not much higher than two of these. */
  private static final int MAX_WINDOW = 4096;

  /** {@code ring}. */
  public static final Option<Long> RING =
      Option.size(
          "ring",
          0,
          1L << 40,
          0,
          "how large the ring is that this side receives into, rounded up to whole pages, and to one"
              + " message of maxMessage (two with mapping=plain); 0 is room for 64 messages of"
              + " maxMessage, but 256 KiB to 4 MiB, or for 4 of them, but up to 64 MiB");

  /** {@code window}. */
  public static final Option<Integer> WINDOW =
      Option.count(
          "window",
          1,
          MAX_WINDOW,
          256,
          "how many messages may be sent that the receiver has not freed; the lower of both sides'"
              + " values counts");

  /** {@code mapping}. */
  public static final Option<Mapping> MAPPING =
      Option.choice(
          "mapping",
          Mapping.class,
          Mapping.MAGIC,
          "magic: this side's ring is mapped twice, so that messages may cross its end; plain: once,"
              + " and what a message does not fit into at the end is lost");

  /** {@code hugePages}. */
  public static final Option<OnOff> HUGE_PAGES =
      Option.choice(
          "hugePages",
          OnOff.class,
          OnOff.OFF,
          "whether a magic ring of a multiple of 2 MiB is put in huge pages, if the system has any"
              + " to spare");

  /** {@code simplex}. */
  public static final Option<OnOff> SIMPLEX =
      Option.choice(
          "simplex",
          OnOff.class,
          OnOff.OFF,
          "whether only the side that connects sends, so that there is one ring and not two; a"
              + " listener with it takes no other clients");

  private MagicRingOptions() {}

  static List<Option<?>> all() {
    List<Option<?>> result = RdmaOptions.standard();
    result.addAll(
        List.of(
            RING,
            WINDOW,
            MAPPING,
            HUGE_PAGES,
            SIMPLEX,
            RdmaOptions.UNACKED,
            RdmaOptions.BUFFER,
            RdmaOptions.INLINE,
            RdmaOptions.RNR_RETRY,
            RdmaOptions.MIN_RNR_TIMER,
            RdmaOptions.ACK_TIMEOUT,
            RdmaOptions.RETRIES,
            RdmaOptions.SINGLE_RECEIVER));
    return List.copyOf(result);
  }

  /**
   * Returns how large the ring is.
   *
   * @param options the options
   * @return the size in bytes, whole pages
   */
  public static long ringSize(ConnectionOptions options) {
    int maxMessage = RdmaOptions.maxMessage(options);
    long wanted = options.get(RING);
    long automatic = RdmaOptions.areaFor(maxMessage);
    long page = MagicBuffer.pageSize();
    long size =
        Math.max(wanted > 0 ? wanted : automatic, options.get(MAPPING).smallestFor(maxMessage));
    return (size + page - 1) / page * page;
  }
}
