// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.evaluate.ServerSettings;
import dev.ferrule.tools.support.ConfiguredAddress;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The memory of a server's connections: at most 4 GiB, as docs/protocol-sendrecv.md computes it.
 */
class AllowedSettingsTest {

  private static final long LIMIT = 4L << 30;
  private static final long MIB = 1 << 20;
  private static final ProviderInfo SENDRECV = ConfiguredAddress.requiredProvider("sendrecv");

  private static ServerSettings settings(Map<String, String> options) {
    return new ServerSettings(options, "block", false);
  }

  private static long clients(Map<String, String> options) {
    return AllowedSettings.bounds(SENDRECV, settings(options)).stream()
        .filter(argument -> argument.startsWith("--max-clients="))
        .mapToLong(argument -> Long.parseLong(argument.split("=")[1]))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void automaticReceivesOfLongMessagesAreCounted() {
    long connection = (4 + 8 + 4) * MIB; // sent, received, control
    assertThat(clients(Map.of("maxMessage", "1MiB"))).isEqualTo(LIMIT / connection);
  }

  @Test
  void receivesForControlMessagesAreCounted() {
    long connection = (4 + 16 + 4) * MIB;
    assertThat(clients(Map.of("maxMessage", "1MiB", "receives", "16")))
        .isEqualTo(LIMIT / connection);
  }

  @Test
  void sharedReceivesAreCountedOnceForTheServer() {
    long clients = clients(Map.of("maxMessage", "1MiB", "srq", "on"));
    assertThat(64 * MIB + clients * 2 * 4 * MIB).isLessThanOrEqualTo(LIMIT);
    assertThat(clients).isEqualTo((LIMIT - 64 * MIB) / (8 * MIB));
  }

  @Test
  void sharedReceivesHaveTheLimitOfAConnection() {
    AllowedSettings.check(SENDRECV, settings(Map.of("maxMessage", "1MiB", "srq", "on")));
    ServerSettings more = settings(Map.of("maxMessage", "1MiB", "srq", "on", "receives", "65"));
    assertThatThrownBy(() -> AllowedSettings.check(SENDRECV, more))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65 receive buffers of 1048576 bytes exceed the limit");
  }
}
