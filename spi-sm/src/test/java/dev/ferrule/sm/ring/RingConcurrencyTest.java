// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import dev.ferrule.support.Jcstress;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@link RingStress}. */
@Tag("long")
class RingConcurrencyTest {

  @Test
  void shouldShowNothingForbiddenToTwoThreads(@TempDir Path folder)
      throws IOException, InterruptedException {
    Jcstress.run(RingStress.class, folder);
  }
}
