// SPDX-License-Identifier: Apache-2.0
package repeated;

import static org.junit.jupiter.api.Assertions.fail;

import org.junit.jupiter.api.Test;

class FailsAlwaysTest {

  @Test
  void failsAlways() {
    fail("each run");
  }
}
