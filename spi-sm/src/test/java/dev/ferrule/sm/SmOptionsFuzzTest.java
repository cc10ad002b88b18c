// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.Fuzzer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The options of the provider, as a user may write them, and the sizes of memory that follow. */
class SmOptionsFuzzTest {

  @Test
  void validOptionsMakeALayoutWithinTheLimits() {
    new Fuzzer("options of sm", 2_000)
        .permits(InvalidOptionException.class)
        .addresses(
            List.of(
                "sm:///tmp/app?ring=64KiB&buffer=1MiB&lanes=3&maxMessage=64KiB&rma=mmap",
                "sm:///tmp/app?rmaBuffer=4KiB&allocatable=1TiB&maxPeerMemory=64GiB",
                "sm:///tmp/app?maxMapped=1MiB&singleReceiver&access=group"),
            uri -> {
              ResolvedOptions options =
                  ResolvedOptions.of(ConnectionOptions.defaults(), uri, SmOptions.all());
              RingLayout layout = SmOptions.layout(uri, options);
              assertThat(layout.maxMessage()).isBetween(1, 1 << 30);
              assertThat(layout.capacity()).isBetween(1 << 12, 1 << RingLayout.MAX_RING_SHIFT);
              assertThat(layout.lines()).isBetween(1, RingLayout.MAX_LINES);
              assertThat(SharedRing.allocatedSize(layout)).isPositive();
              SharedRing.OnDemand onDemand = SmOptions.onDemand(options);
              assertThat(onDemand.rmaBuffer()).isBetween(4096L, 1L << 30);
              assertThat(onDemand.allocatable()).isBetween(0L, 1L << 40);
              assertThat(SmOptions.limits(options).file()).isPositive();
              return true;
            });
  }
}
