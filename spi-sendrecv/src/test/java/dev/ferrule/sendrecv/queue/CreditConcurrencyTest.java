// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.support.Jcstress;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@link CreditStress}. */
@Tag("long")
class CreditConcurrencyTest {

  @Test
  void shouldHaveNoForbiddenOutcome(@TempDir Path folder) throws IOException, InterruptedException {
    Jcstress.run(CreditStress.class, folder);
  }
}
