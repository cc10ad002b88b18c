// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheLineTest {

  @TempDir Path folder;

  @Test
  void eachBounceOfSeveralRoundsIsTimed() throws Exception {
    Path file = Files.write(folder.resolve("line"), new byte[4096]);
    int count = 500;
    try (CacheLine ours = new CacheLine(file, () -> {});
        CacheLine theirs = new CacheLine(file, () -> {})) {
      for (int round = 0; round < 3; round++) {
        Thread answering =
            Thread.ofPlatform().start(() -> theirs.answer(count + 1, Long.MAX_VALUE));
        long[] periods = new long[count];
        ours.bounce(periods, count);
        answering.join();
        assertThat(Arrays.stream(periods).allMatch(period -> period >= 0)).isTrue();
        assertThat(Arrays.stream(periods).sum()).isPositive();
      }
    }
  }

  @Test
  void aPeerThatNeverAnswersIsChecked() throws Exception {
    Path file = Files.write(folder.resolve("line"), new byte[4096]);
    try (CacheLine line =
        new CacheLine(
            file,
            () -> {
              throw new IllegalStateException("gone");
            })) {
      assertThatThrownBy(() -> line.bounce(new long[1], 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("gone");
    }
  }

  @Test
  void aMissingFileIsAnError() {
    assertThatThrownBy(() -> new CacheLine(folder.resolve("absent"), () -> {}))
        .isInstanceOf(NoSuchFileException.class);
  }
}
