// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.ProtocolException;
import java.lang.foreign.MemorySegment;

/**
 * A program that never calls receive, and so is informed of its connection's end in another way.
 */
final class NeverReceives {

  private NeverReceives() {}

  /**
   * Checks that the program is informed of a violation by its peer.
   *
   * @param sending whether it sends messages; otherwise it does nothing
   * @param words part of the expected message
   */
  static void assertViolationReported(Connection connection, boolean sending, String words) {
    if (sending) {
      Task<Void> sends =
          Task.start(() -> {
            while (true) {
              connection.sender().send(MemorySegment.ofArray(new byte[8]));
            }
          });
      assertThat(sends.failure()).isInstanceOf(ProtocolException.class).hasMessageContaining(words);
    } else {
      Task.await("the connection has failed", () -> connection.state() == ConnectionState.FAILED);
    }
    assertThat(connection.failure())
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining(words);
  }
}
