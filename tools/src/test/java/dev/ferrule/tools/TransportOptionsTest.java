// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Availability;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ToolException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class TransportOptionsTest {

  private static final Option<Integer> UNACKED = Option.count("unacked", 1, 1000, 64, "");
  private static final Option<Integer> RECEIVES = Option.count("receives", 0, 1000, 0, "");
  private static final Option<Long> INLINE = Option.size("inline", 0, 4096, 220, "");
  private static final Option<Boolean> SRQ = Option.flag("srq", false, "");
  private static final Option<Boolean> SINGLE = Option.flag("singleReceiver", false, "");

  private final ConnectionOptions.Builder options = ConnectionOptions.builder();

  @Test
  void theFlagsAreShortForOptionsOfTheProvider() {
    flags("--inline", "1KiB", "--srq", "--single-receiver")
        .addTo(options, provider(INLINE, SRQ, SINGLE));
    ConnectionOptions set = options.build();
    assertThat(set.get(INLINE)).isEqualTo(1024);
    assertThat(set.get(SRQ)).isTrue();
    assertThat(set.get(SINGLE)).isTrue();
  }

  @Test
  void flagsThatAreNotGivenSetNothing() {
    flags().addTo(options, provider(INLINE, SRQ, SINGLE));
    assertThat(options.build()).hasToString("{}");
  }

  @Test
  void anUnsupportedOptionIsReportedWithTheSupportedOnes() {
    assertThatThrownBy(() -> flags("--single-receiver").addTo(options, provider(SRQ)))
        .isInstanceOfSatisfying(
            ToolException.class, failure -> assertThat(failure.exitCode()).isEqualTo(2))
        .hasMessageContaining("--single-receiver")
        .hasMessageContaining("provider test")
        .hasMessageContaining("'singleReceiver'")
        .hasMessageEndingWith("peerTimeout, backlog, readiness, srq");
  }

  @Test
  void theMessageLimitIsTheLongestMessageWhereItCostsReceiveBuffers() {
    TransportOptions.fitMaxMessage(options, provider(RECEIVES), 64);
    assertThat(maxMessage()).isEqualTo(4096);
    assertThat(fitted(provider(RECEIVES), 5000)).isEqualTo(5000);
    assertThat(fitted(provider(RECEIVES), 3 << 20)).isEqualTo(3 << 20);
  }

  @Test
  void elsewhereTheLimitIsOnlyRaised() {
    assertThat(fitted(provider(), 64)).isEqualTo(1 << 20);
    assertThat(fitted(provider(), 3 << 20)).isEqualTo(3 << 20);
  }

  @Test
  void theLimitIsRaisedFromTheDefaultOfTheProvider() {
    Option<Long> lower = Option.size("maxMessage", 1, 1L << 30, 64L << 10, "of this provider");
    assertThat(fitted(provider(lower), 100_000)).isEqualTo(100_000);
  }

  @Test
  void theUsersOwnLimitStays() {
    options.set(StandardOptions.MAX_MESSAGE, 12_345L);
    TransportOptions.fitMaxMessage(options, provider(RECEIVES), 64);
    assertThat(maxMessage()).isEqualTo(12_345);
  }

  @Test
  void anOptionIsRaisedAndNeverLowered() {
    TransportOptions.raise(options, provider(UNACKED), "unacked", 0);
    TransportOptions.raise(options, provider(UNACKED), "unacked", 64);
    assertThat(options.build().isSet(UNACKED)).isFalse();
    TransportOptions.raise(options, provider(UNACKED), "unacked", 65);
    assertThat(options.build().get(UNACKED)).isEqualTo(65);
    options.set("unacked", "500");
    TransportOptions.raise(options, provider(UNACKED), "unacked", 300);
    assertThat(options.build().get(UNACKED)).isEqualTo(500);
  }

  @Test
  void anOptionThatTheProviderDoesNotHaveIsNotRaised() {
    TransportOptions.raise(options, provider(), "unacked", 300);
    assertThat(options.build()).hasToString("{}");
  }

  private static long fitted(ProviderInfo provider, long longest) {
    ConnectionOptions.Builder fresh = ConnectionOptions.builder();
    TransportOptions.fitMaxMessage(fresh, provider, longest);
    return fresh.build().get(StandardOptions.MAX_MESSAGE);
  }

  private long maxMessage() {
    return options.build().get(StandardOptions.MAX_MESSAGE);
  }

  private static TransportOptions flags(String... arguments) {
    return CommandLine.populateCommand(new TransportOptions(), arguments);
  }

  private static ProviderInfo provider(Option<?>... own) {
    List<Option<?>> all = new ArrayList<>(StandardOptions.all());
    for (Option<?> option : own) { // which may replace a standard one
      all.removeIf(standard -> standard.name().equals(option.name()));
      all.add(option);
    }
    return new ProviderInfo("test", "a test", "test://host", new Availability.Available(), all);
  }

  private static ConfiguredAddress endpoint(String address) {
    return new ConfiguredAddress(URI.create(address), ConnectionOptions.builder().build());
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm:///dev/shm/x", "sendrecv://192.0.2.1:1", "magicring://192.0.2.1:1"})
  void oneReceiverForAllIsKnownFromTheOptionsOfEachProvider(String address) {
    assertThat(TransportOptions.isSingleReceiver(endpoint(address))).isFalse();
    assertThat(TransportOptions.isSingleReceiver(endpoint(address + "?singleReceiver=on")))
        .isTrue();
    assertThat(TransportOptions.isSingleReceiver(endpoint(address + "?singleReceiver=off")))
        .isFalse();
  }

  @Test
  void connectionsOnWhichOneSideSendsAreRefused() {
    TransportOptions.requireBothWays(endpoint("magicring://192.0.2.1:1"));
    assertThatThrownBy(
            () -> TransportOptions.requireBothWays(endpoint("magicring://192.0.2.1:1?simplex=on")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("simplex=on");
  }
}
