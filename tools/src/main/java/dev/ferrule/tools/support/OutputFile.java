// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.IOException;
import java.nio.file.AccessMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** A file that a command writes at its end. */
public final class OutputFile {

  private OutputFile() {}

  /**
   * Rejects a file that cannot be written, before the command does its work. Neither creates nor
   * changes the file.
   *
   * @param file the file; it need not exist
   * @throws ToolException with the reason, if the file cannot be written
   */
  public static void check(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || Files.isDirectory(file)) {
      throw unusable(file, "it is a directory; write the name of a file");
    }
    try {
      if (Files.exists(file)) {
        checkAccess(file, AccessMode.WRITE);
      } else if (Files.readAttributes(folder, BasicFileAttributes.class).isDirectory()) {
        checkAccess(folder, AccessMode.WRITE, AccessMode.EXECUTE);
      } else {
        throw unusable(file, "no folder " + folder);
      }
    } catch (NoSuchFileException e) {
      throw unusable(file, "no folder " + folder);
    } catch (IOException e) {
      throw unusable(file, Problems.reason(e));
    }
  }

  private static void checkAccess(Path path, AccessMode... modes) throws IOException {
    // Unlike Files.isWritable, this has the reason.
    path.getFileSystem().provider().checkAccess(path, modes);
  }

  /**
   * {@return the failure to write a file}
   *
   * @param file the file
   * @param cause why it was not written
   */
  public static ToolException failure(Path file, IOException cause) {
    return new ToolException(
        ExitCode.FAILED, "cannot write " + file + ": " + Problems.reason(cause), cause);
  }

  private static ToolException unusable(Path file, String reason) {
    return new ToolException(ExitCode.USAGE, "cannot write " + file + ": " + reason);
  }
}
