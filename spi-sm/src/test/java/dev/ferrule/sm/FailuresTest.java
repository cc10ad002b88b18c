// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.FerruleException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailuresTest {

  @TempDir private Path folder;

  private URI uri() {
    return URI.create("sm://" + folder.resolve("not/created"));
  }

  /** The shared memory is in no file system, so that smaller buffers do not help. */
  @Test
  void aFullFileSystemIsNamedWithWhatIsFreeAndNotTheSizesOfBuffers() {
    for (FerruleException failure :
        new FerruleException[] {
          Failures.of(uri(), new PosixException("mkdir", folder.toString(), Errno.ENOSPC)),
          Failures.of(uri(), new IOException(folder + ": No space left on device"))
        }) {
      assertThat(failure)
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("; the file system of " + folder + " has ")
          .hasMessageMatching(".* has \\d+ [KM]iB free(, and room for \\d+ files \\(inodes\\))?:.*")
          .hasMessageEndingWith(": remove files there, enlarge it, or use another directory");
    }
  }

  @Test
  void aQuotaIsNotTakenForAFullFileSystem() {
    assertThat(Failures.of(uri(), new PosixException("mkfifo", folder.toString(), Errno.EDQUOT)))
        .isInstanceOf(ResourceExhaustedException.class)
        .hasMessageEndingWith("; this user's quota there is used up: remove files, or raise it");
  }

  @Test
  void theLimitOfWatchesIsNotTakenForAFullFileSystem() {
    assertThat(Failures.of(uri(), new PosixException("epoll_ctl", "fd 7", Errno.ENOSPC)))
        .isInstanceOf(ResourceExhaustedException.class)
        .hasMessageEndingWith("; raise fs.epoll.max_user_watches");
  }
}
