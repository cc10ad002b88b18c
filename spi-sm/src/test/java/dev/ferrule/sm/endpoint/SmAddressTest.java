// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.InvalidAddressException;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SmAddressTest {

  @Test
  void shouldReadADirectory() {
    SmAddress address = SmAddress.parse(URI.create("sm:///tmp/app?wait=spin"));
    assertThat(address.base()).isEqualTo(Path.of("/tmp/app"));
    assertThat(address.endpoint()).isNull();
  }

  @Test
  void shouldReadAnEndpoint() {
    SmAddress address = SmAddress.parse(URI.create("sm:///tmp/app/4567/2"));
    assertThat(address.base()).isEqualTo(Path.of("/tmp/app"));
    assertThat(address.endpoint()).isEqualTo(new SmAddress.Id(4567, 2));
    assertThat(address.directory()).isEqualTo(Path.of("/tmp/app/4567/2"));
    assertThat(address.uri()).isEqualTo(URI.create("sm:///tmp/app/4567/2"));
    assertThat(address.connectionUri(3)).isEqualTo(URI.create("sm:///tmp/app/4567/2#3"));
  }

  @ParameterizedTest
  @CsvSource({
    "sm://tmp/app, write three slashes: sm:///tmp/app",
    "sm:tmp/app, absolute",
    "sm:///, root directory",
    "sm:///1/2, root directory",
    "sm:///tmp/a%00b, zero byte"
  })
  void shouldReportWhatIsWrongWithAnAddressAndHowToFixIt(String text, String part) {
    assertThatThrownBy(() -> SmAddress.parse(URI.create(text)))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining(part);
  }

  @Test
  void shouldTakeANumberThatNoEndpointHasForTheNameOfADirectory() {
    assertThat(SmAddress.parse(URI.create("sm:///tmp/app/4567/99999999999")).endpoint()).isNull();
  }

  @Test
  void shouldRefuseAPathThatNoSocketCanHave() {
    String longest = "/tmp/" + "x".repeat(107 - "/tmp/".length() - "/1/1/sock".length());
    assertThat(SmAddress.parse(URI.create("sm://" + longest + "/1/1")).endpoint()).isNotNull();
    assertThatThrownBy(() -> SmAddress.parse(URI.create("sm://" + longest + "x/1/1")))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining("108 bytes")
        .hasMessageContaining("107");
    assertThatThrownBy(() -> SmAddress.parse(URI.create("sm:///tmp/" + "ü".repeat(60))))
        .as("bytes count, not characters")
        .isInstanceOf(InvalidAddressException.class);
  }
}
