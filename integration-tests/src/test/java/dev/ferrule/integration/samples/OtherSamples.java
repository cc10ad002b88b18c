// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As {@link Samples}, in another class. */
@Tag("sample")
class OtherSamples {

  @Test
  void passesToo() throws IOException {
    assertThat(Samples.runs("passesToo")).isPositive();
  }

  @Test
  void failsOnceToo() throws IOException {
    assertThat(Samples.runs("failsOnceToo")).isGreaterThan(1);
  }

  @Test
  void crashesOnceToo() throws IOException {
    if (Samples.runs("crashesOnceToo") == 1) {
      Samples.crash();
    }
  }
}
