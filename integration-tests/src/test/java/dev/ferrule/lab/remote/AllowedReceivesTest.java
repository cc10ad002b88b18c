// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.ProviderInfo;
import dev.ferrule.sendrecv.SendRecvOptions;
import dev.ferrule.sendrecv.queue.SendRecvChannel;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.tools.support.ConfiguredAddress;
import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The host of an evaluation limits memory by the number of receives that a provider chooses. It
 * does not depend on the provider, and so repeats its rule.
 */
class AllowedReceivesTest {

  private static final ProviderInfo SENDRECV = ConfiguredAddress.requiredProvider("sendrecv");

  private static ResolvedOptions options(String query) {
    return ResolvedOptions.of(
        ConnectionOptions.defaults(), URI.create("sendrecv://host:1?" + query), SENDRECV.options());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "maxMessage=1",
        "maxMessage=64",
        "maxMessage=8KiB",
        "maxMessage=16KiB",
        "maxMessage=17KiB",
        "maxMessage=64KiB",
        "maxMessage=1MiB",
        "maxMessage=64MiB"
      })
  void theNumbersOfReceivesAreThoseThatTheProviderChooses(String longest) {
    for (String chosen : new String[] {"", "&receives=1", "&receives=100"}) {
      ResolvedOptions own = options(longest + chosen);
      assertThat(AllowedSettings.receives(SENDRECV, own))
          .as(longest + chosen)
          .isEqualTo(SendRecvOptions.receives(own) + SendRecvChannel.CONTROL_RECEIVES);
      ResolvedOptions shared = options(longest + chosen + "&srq=on");
      assertThat(AllowedSettings.receives(SENDRECV, shared))
          .as(longest + chosen + ", shared")
          .isEqualTo(SendRecvOptions.sharedReceives(shared));
    }
  }
}
