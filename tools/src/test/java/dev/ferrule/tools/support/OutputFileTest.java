// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTest {

  @TempDir Path folder;

  @Test
  void aCheckedFileIsNeitherCreatedNorChanged() throws IOException {
    Path old = Files.writeString(folder.resolve("old"), "content");
    OutputFile.check(old);
    assertThat(old).hasContent("content");
    OutputFile.check(folder.resolve("new"));
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void aDirectoryIsNotAFile() {
    for (Path directory : new Path[] {Path.of("/"), Path.of(""), folder}) {
      assertThatThrownBy(() -> OutputFile.check(directory))
          .hasMessageContaining("it is a directory");
    }
  }

  /** An archive that is opened for reading stands for a folder, as root may write to each. */
  @Test
  void aFileInAFolderWithoutPermissionIsRefused() throws IOException {
    Path archive = folder.resolve("archive.zip");
    FileSystems.newFileSystem(archive, Map.of("create", true)).close();
    try (FileSystem files = FileSystems.newFileSystem(archive, Map.of("accessMode", "readOnly"))) {
      Path file = files.getPath("/file");
      assertThatThrownBy(() -> OutputFile.check(file))
          .isInstanceOf(ToolException.class)
          .hasMessage("cannot write " + file + ": permission denied");
    }
  }

  @Test
  void aFailureHasAReasonWithoutTheNameOfItsClass() {
    Path file = Path.of("/etc/x");
    for (String[] pair :
        new String[][] {
          {"permission denied", reason(new AccessDeniedException("/etc/x"))},
          {"no such file", reason(new NoSuchFileException("/etc/x"))},
          {
            "Read-only file system",
            reason(new FileSystemException("/x", null, "Read-only file system"))
          },
          {"No space left on device", reason(new IOException("No space left on device"))}
        }) {
      assertThat(pair[1]).isEqualTo("cannot write " + file + ": " + pair[0]);
    }
  }

  private static String reason(IOException failure) {
    return String.valueOf(OutputFile.failure(Path.of("/etc/x"), failure).getMessage());
  }
}
