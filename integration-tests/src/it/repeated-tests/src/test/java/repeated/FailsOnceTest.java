// SPDX-License-Identifier: Apache-2.0
package repeated;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FailsOnceTest {

  private static int runs;

  @Test
  void failsOnce() {
    assertTrue(++runs > 1, "the first run");
  }

  @Test
  void passes() {
    assertTrue(true);
  }
}
