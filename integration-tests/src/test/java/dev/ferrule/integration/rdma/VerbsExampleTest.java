// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The program that docs/verbs.md shows. */
@RdmaTest
class VerbsExampleTest {

  @Test
  void theExampleSendsWritesAndReads() {
    assertThat(VerbsExample.run(RdmaDevice.address())).isEqualTo("sent, written, read");
  }
}
