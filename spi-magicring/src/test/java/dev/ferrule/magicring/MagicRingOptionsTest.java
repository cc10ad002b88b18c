// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.magicring.ring.RingCursor;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** Tests the values derived from the provider's options. */
class MagicRingOptionsTest {

  @Test
  void theDefaultRingHasSpaceForAllMessagesThatAPeerMayHaveUnacknowledged() {
    ResolvedOptions defaults = resolved("");
    long unacked = defaults.get(RdmaOptions.UNACKED);
    assertThat(unacked).isGreaterThanOrEqualTo(64);
    assertThat(defaults.get(MagicRingOptions.WINDOW)).isGreaterThanOrEqualTo((int) unacked);
    assertThat(MagicRingOptions.ringSize(defaults))
        .isGreaterThanOrEqualTo(unacked * RingCursor.rounded(RdmaOptions.maxMessage(defaults)));
  }

  /** The table of docs/protocol-magicring.md, Memory. */
  @Test
  void theRingGrowsWithTheLengthOfMessages() {
    assertThat(ringOf(64)).isEqualTo(256 << 10);
    assertThat(ringOf(64 << 10)).isEqualTo(4 << 20);
    assertThat(ringOf(1 << 20)).isEqualTo(4 << 20);
    assertThat(ringOf(4 << 20)).isEqualTo(16 << 20);
    assertThat(ringOf(128 << 20)).isEqualTo(128 << 20);
  }

  private static long ringOf(long maxMessage) {
    return MagicRingOptions.ringSize(resolved("?maxMessage=" + maxMessage));
  }

  private static ResolvedOptions resolved(String query) {
    return ResolvedOptions.of(
        ConnectionOptions.defaults(),
        URI.create("magicring://host:1" + query),
        MagicRingOptions.all());
  }
}
