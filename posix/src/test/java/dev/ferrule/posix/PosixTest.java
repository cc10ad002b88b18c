// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PosixTest {

  @Test
  void aFailureNamesTheFunctionItsArgumentAndTheError(@TempDir Path folder) {
    String missing = folder.resolve("missing").toString();
    assertThatExceptionOfType(PosixException.class)
        .isThrownBy(() -> Posix.open(missing, Posix.O_RDONLY, 0))
        .withMessage("open(" + missing + "): No such file or directory (errno 2)")
        .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT))
        .satisfies(e -> assertThat(e.function()).isEqualTo("open"))
        .satisfies(e -> assertThat(e.subject()).isEqualTo(missing));
  }

  /** Such as a profiler's signals: between two of them, only a part can be allocated. */
  @Test
  void anAllocationThatSignalsInterruptGoesOnWhereItWas() {
    long length = (3 << 20) + 100;
    long[] next = {0};
    int[] interrupted = {0};
    int result =
        Posix.inPieces(
            length,
            (done, piece) -> {
              assertThat(done).isEqualTo(next[0]);
              if (piece > 10 * Posix.PAGE) {
                interrupted[0]++;
                return Errno.EINTR;
              }
              next[0] += piece;
              return 0;
            });
    assertThat(result).isZero();
    assertThat(next[0]).isEqualTo(length);
    assertThat(interrupted[0]).isBetween(1, 10);
  }

  @Test
  void anAllocationForWhichThereIsNoRoomFails() {
    assertThat(Posix.inPieces(8192, (done, piece) -> Errno.ENOSPC)).isEqualTo(Errno.ENOSPC);
  }
}
