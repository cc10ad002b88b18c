// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The program that docs/verbs.md shows. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VerbsExampleTest {

  @Test
  void theExampleSendsWritesAndReads() {
    assertThat(VerbsExample.run(RdmaDevice.address())).isEqualTo("sent, written, read");
  }
}
