// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.magicring.wire.RingOffer;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.Fuzzer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The options of the provider, as a user may write them, and the size of the ring. */
class MagicRingOptionsFuzzTest {

  @Test
  void validOptionsGiveARingForTheLongestMessage() {
    new Fuzzer("options of magicring", 2_000)
        .permits(InvalidOptionException.class)
        .addresses(
            List.of(
                "magicring://host:1?ring=1MiB&window=64&mapping=plain&acknowledge=batched",
                "magicring://host:1?hugePages=on&simplex=on&maxMessage=1GiB",
                "magicring://host:1?unacked=64&pollBatch=8&retries=6"),
            uri -> {
              ResolvedOptions options =
                  ResolvedOptions.of(ConnectionOptions.defaults(), uri, MagicRingOptions.all());
              long size = MagicRingOptions.ringSize(options);
              assertThat(RingOffer.isRingSize(size)).isTrue();
              assertThat(options.get(MagicRingOptions.MAPPING).longest(size))
                  .isGreaterThanOrEqualTo(RdmaOptions.maxMessage(options));
              assertThat(options.get(MagicRingOptions.WINDOW)).isBetween(1, RingOffer.MAX_WINDOW);
              return true;
            });
  }
}
