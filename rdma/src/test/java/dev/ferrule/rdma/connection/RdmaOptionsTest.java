// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The memory sizes that follow from the options of both RDMA providers. */
class RdmaOptionsTest {

  private static final ResolvedOptions DEFAULTS = resolved("");

  private static ResolvedOptions resolved(String query) {
    List<Option<?>> known = new ArrayList<>(RdmaOptions.standard());
    known.addAll(List.of(RdmaOptions.UNACKED, RdmaOptions.SEND_BUFFER));
    return ResolvedOptions.of(
        ConnectionOptions.defaults(), URI.create("sendrecv://host:1" + query), known);
  }

  @Test
  void byDefaultAllUnacknowledgedMessagesMayHaveTheMaximumLength() {
    int longest = RdmaOptions.maxMessage(DEFAULTS);
    int unacked = DEFAULTS.get(RdmaOptions.UNACKED);

    assertThat(unacked).isGreaterThanOrEqualTo(64);
    assertThat(RdmaOptions.sendMemory(DEFAULTS, longest))
        .isGreaterThanOrEqualTo((long) unacked * longest);
  }

  /** The table of docs/protocol-sendrecv.md, Memory. */
  @ParameterizedTest
  @CsvSource({
    "64, 256",
    "4096, 256",
    "16384, 1024",
    "65536, 4096",
    "1048576, 4096",
    "2097152, 8192"
  })
  void anAreaHasRoomFor64MessagesUpTo4MebibytesAndFor4AtLeast(int maxMessage, long kib) {
    assertThat(RdmaOptions.areaFor(maxMessage)).isEqualTo(kib << 10);
  }

  @Test
  void theDefaultAreaIsAtMost64Mebibytes() {
    assertThat(RdmaOptions.areaFor(1 << 30)).isEqualTo(64 << 20);
  }

  /** The peer's maxMessage is up to 1 GiB. */
  @Test
  void aPeerDoesNotEnlargeTheSendMemoryThatTheProgramHasChosen() {
    ResolvedOptions chosen = resolved("?sendBuffer=100000");
    assertThat(RdmaOptions.sendMemory(chosen, 1 << 30)).isEqualTo(100_032);
    assertThat(RdmaOptions.sendMemory(chosen, 10)).isEqualTo(100_032);
  }

  @ParameterizedTest
  @CsvSource({
    "65536, 4096, 256",
    "65536, 65536, 4096",
    "65536, 1073741824, 4096",
    "1048576, 1073741824, 4096",
    "4194304, 1073741824, 16384",
    "1073741824, 1073741824, 65536",
  })
  void aClientEnlargesTheSendMemoryOfAServerOnlyUpToTheServersOwnLimit(
      long own, int clients, long kib) {
    ResolvedOptions options = resolved("?maxMessage=" + own);
    assertThat(RdmaOptions.sendMemoryForClient(options, clients)).isEqualTo(kib << 10);
  }

  @Test
  void allStandardOptionsAreListedInTheirOrder() {
    assertThat(RdmaOptions.standard())
        .extracting(option -> option.name())
        .containsExactlyElementsOf(
            StandardOptions.all().stream().map(option -> option.name()).toList());
  }
}
