// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.contract.SystemResources;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are mapped. */
class SharedFileTest {

  @TempDir private Path folder;

  /** As when another thread closes the connection. */
  @Test
  void aFileThatIsMappedWhenItsArenaWasClosedIsNotLeftMapped() throws Exception {
    Arena arena = Arena.ofShared();
    arena.close();
    Path file = Files.createDirectories(folder.resolve("4/1/conns/1")).resolve("rma-buffer");

    assertThatThrownBy(() -> SharedFile.create(file, 8192, arena))
        .isInstanceOf(IllegalStateException.class);
    SharedFile.create(file, 8192, Arena.ofAuto());
    int before = SystemResources.mappings(folder.toString()).size();
    assertThatThrownBy(() -> SharedFile.attach(file, 8192, arena))
        .isInstanceOf(IllegalStateException.class);

    assertThat(before).isEqualTo(1);
    assertThat(SystemResources.mappings(folder.toString())).hasSize(1);
  }
}
