// SPDX-License-Identifier: Apache-2.0
package repeated;

import org.junit.jupiter.api.Test;

class CrashesTest {

  @Test
  void crashes() {
    Runtime.getRuntime().halt(134);
  }
}
