// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the values derived from the provider's options. */
class SendRecvOptionsTest {

  private static ResolvedOptions resolved(String query) {
    return ResolvedOptions.of(
        ConnectionOptions.defaults(),
        URI.create("sendrecv://host:1" + query),
        SendRecvOptions.all());
  }

  private static ResolvedOptions ofLongest(long maxMessage) {
    return resolved("?maxMessage=" + maxMessage);
  }

  @Test
  void byDefaultThereAreReceivesForAllMessagesThatAPeerMayHaveUnacknowledged() {
    ResolvedOptions defaults = resolved("");
    assertThat(SendRecvOptions.receives(defaults))
        .isGreaterThanOrEqualTo(64)
        .isGreaterThanOrEqualTo(defaults.get(RdmaOptions.UNACKED));
  }

  /** The table of docs/protocol-sendrecv.md, Memory. */
  @Test
  void theNumberOfReceivesDependsOnTheLengthOfMessages() {
    assertThat(SendRecvOptions.receives(ofLongest(64))).isEqualTo(256);
    assertThat(SendRecvOptions.receives(ofLongest(4 << 10))).isEqualTo(256);
    assertThat(SendRecvOptions.receives(ofLongest(64 << 10))).isEqualTo(64);
    assertThat(SendRecvOptions.receives(ofLongest(1 << 20))).isEqualTo(8);
  }

  @Test
  void everyOptionIsListedOnce() {
    List<String> names = SendRecvOptions.all().stream().<String>map(Option::name).toList();
    assertThat(names).doesNotHaveDuplicates().contains("maxMessage", "receives", "unacked");
  }
}
