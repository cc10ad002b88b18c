// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Options as a user may write them. */
class OptionsFuzzTest {

  private static final URI ADDRESS = URI.create("sm:///tmp/app");
  private static final List<Option<?>> KNOWN =
      StandardOptions.all().stream()
          .<Option<?>>map(option ->
              option == StandardOptions.MAX_MESSAGE
                  ? StandardOptions.MAX_MESSAGE.withDefault(1L << 20)
                  : option == StandardOptions.PEER_TIMEOUT
                      ? StandardOptions.PEER_TIMEOUT.withDefault(Duration.ofSeconds(10))
                      : option)
          .toList();

  @Test
  void everyOptionInAQueryIsValidOrNamed() {
    new Fuzzer("options in a query", 2_000)
        .permits(InvalidOptionException.class)
        .addresses(
            List.of(
                "sm:///tmp/app?maxMessage=64KiB&wait=spin&peerTimeout=250ms",
                "sm:///tmp/app?connectTimeout=5s&backlog=3&readiness=messages",
                "sm:///tmp/app"),
            uri -> {
              assertAllValid(ResolvedOptions.of(ConnectionOptions.defaults(), uri, KNOWN));
              return true;
            });
  }

  @Test
  void everyOptionThatIsSetByNameIsValidOrNamed() {
    new Fuzzer("options by name", 2_000)
        .permits(InvalidOptionException.class)
        .text(
            List.of(
                "maxMessage=64KiB",
                "maxMessage=1048576",
                "peerTimeout=250ms",
                "sm.wait=spin",
                "sendrecv.receives=128",
                "connectTimeout=2 m",
                "backlog=7"),
            text -> {
              int equals = Math.max(text.indexOf('='), 0);
              ConnectionOptions options =
                  ConnectionOptions.builder()
                      .set(text.substring(0, equals), text.substring(equals).replaceFirst("=", ""))
                      .build();
              assertAllValid(ResolvedOptions.of(options, ADDRESS, KNOWN));
              return true;
            });
  }

  private static void assertAllValid(ResolvedOptions options) {
    for (Option<?> option : StandardOptions.all()) {
      Object value = options.get(option);
      assertThat(value).isNotNull();
    }
  }
}
