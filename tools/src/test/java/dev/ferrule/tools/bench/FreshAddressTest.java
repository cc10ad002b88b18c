// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Availability;
import dev.ferrule.ProviderInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FreshAddressTest {

  @Test
  void aTransportWithPathsGetsADirectoryThatIsRemovedOnClose() throws Exception {
    Path directory;
    try (FreshAddress address =
        FreshAddress.of(provider("sm", "sm:///tmp/app"), Optional.empty())) {
      directory = address.directory().orElseThrow();
      assertThat(address.uri().toString()).startsWith("sm:///").doesNotContain("////");
      assertThat(Path.of(address.uri().getPath())).isEqualTo(directory);
      Files.createDirectories(directory.resolve("a/b"));
      Files.writeString(directory.resolve("a/b/file"), "x");
    }
    assertThat(directory).doesNotExist();
  }

  @Test
  void removingADirectoryTwiceIsNotAFailure() throws Exception {
    try (FreshAddress address =
        FreshAddress.of(provider("sm", "sm:///tmp/app"), Optional.empty())) {
      FreshAddress.remove(address.directory().orElseThrow());
    }
  }

  @Test
  void aTransportWithHostsGetsAPortChosenByTheSystem() {
    ProviderInfo provider = provider("sendrecv", "sendrecv://10.0.0.1:7471");
    try (FreshAddress address = FreshAddress.of(provider, Optional.of("192.0.2.1"))) {
      assertThat(address.uri()).hasToString("sendrecv://192.0.2.1:0");
      assertThat(address.directory()).isEmpty();
    }
    try (FreshAddress address = FreshAddress.of(provider, Optional.of("fe80::1"))) {
      assertThat(address.uri()).hasToString("sendrecv://[fe80::1]:0");
    }
    try (FreshAddress address = FreshAddress.of(provider, Optional.empty())) {
      assertThat(address.uri().getPort()).isZero();
      assertThat(address.uri().getHost()).isNotBlank();
    }
  }

  private static ProviderInfo provider(String scheme, String example) {
    return new ProviderInfo(scheme, "a test", example, new Availability.Available(), List.of());
  }
}
