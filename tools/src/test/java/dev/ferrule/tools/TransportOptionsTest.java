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
import java.util.Optional;
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

  private static final Option<Long> LIMIT = StandardOptions.MAX_MESSAGE.withDefault(1L << 20);

  private final ConnectionOptions.Builder options = ConnectionOptions.builder();

  @Test
  void theFlagsSetOptionsOfTheProvider() {
    flags("--inline", "1KiB", "--srq", "--single-receiver")
        .addTo(options, provider(INLINE, SRQ, SINGLE));
    ConnectionOptions set = options.build();
    assertThat(set.find(INLINE)).hasValue(1024L);
    assertThat(set.find(SRQ)).hasValue(true);
    assertThat(set.find(SINGLE)).hasValue(true);
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
    assertThat(maxMessage()).hasValue(4096L);
    assertThat(fitted(provider(RECEIVES), 5000)).hasValue(5000L);
    assertThat(fitted(provider(RECEIVES), 3 << 20)).hasValue(3L << 20);
  }

  @Test
  void withoutReceiveBuffersTheLimitIsOnlyRaised() {
    assertThat(fitted(provider(LIMIT), 64)).isEmpty();
    assertThat(fitted(provider(LIMIT), 3 << 20)).hasValue(3L << 20);
  }

  @Test
  void theLimitIsRaisedFromTheDefaultOfTheProvider() {
    Option<Long> lower = StandardOptions.MAX_MESSAGE.withDefault(64L << 10);
    assertThat(fitted(provider(lower), 100_000)).hasValue(100_000L);
  }

  @Test
  void aLimitSetByTheUserIsNotChanged() {
    options.set(StandardOptions.MAX_MESSAGE, 12_345L);
    TransportOptions.fitMaxMessage(options, provider(RECEIVES), 64);
    assertThat(maxMessage()).hasValue(12_345L);
  }

  @Test
  void anOptionIsRaisedAndNeverLowered() {
    TransportOptions.raise(options, provider(UNACKED), "unacked", 0);
    TransportOptions.raise(options, provider(UNACKED), "unacked", 64);
    assertThat(options.build().find(UNACKED)).isEmpty();
    TransportOptions.raise(options, provider(UNACKED), "unacked", 65);
    assertThat(options.build().find(UNACKED)).hasValue(65);
    options.set("unacked", "500");
    TransportOptions.raise(options, provider(UNACKED), "unacked", 300);
    assertThat(options.build().find(UNACKED)).hasValue(500);
  }

  @Test
  void anOptionThatTheProviderDoesNotHaveIsNotRaised() {
    TransportOptions.raise(options, provider(), "unacked", 300);
    assertThat(options.build()).hasToString("{}");
  }

  private static Optional<Long> fitted(ProviderInfo provider, long longest) {
    ConnectionOptions.Builder fresh = ConnectionOptions.builder();
    TransportOptions.fitMaxMessage(fresh, provider, longest);
    return fresh.build().find(StandardOptions.MAX_MESSAGE);
  }

  private Optional<Long> maxMessage() {
    return options.build().find(StandardOptions.MAX_MESSAGE);
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
  void singleReceiverIsRecognizedForEachProvider(String address) {
    assertThat(TransportOptions.isSingleReceiver(endpoint(address))).isFalse();
    assertThat(TransportOptions.isSingleReceiver(endpoint(address + "?singleReceiver=on")))
        .isTrue();
    assertThat(TransportOptions.isSingleReceiver(endpoint(address + "?singleReceiver=off")))
        .isFalse();
  }

  @Test
  void simplexConnectionsAreRefused() {
    TransportOptions.requireBothWays(endpoint("magicring://192.0.2.1:1"));
    assertThatThrownBy(
            () -> TransportOptions.requireBothWays(endpoint("magicring://192.0.2.1:1?simplex=on")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("simplex=on");
  }
}
