// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** The standard input stream of this process, if it has one. */
public final class StandardInput {

  private static final Path LINK = Path.of("/proc/self/fd/0");

  private StandardInput() {}

  /**
   * Opens the standard input stream.
   *
   * @return its channel, which closes the descriptor when it is closed
   * @throws ToolException if the process was started without one
   */
  public static FileChannel open() {
    if (isOneOfJavas()) {
      throw new ToolException(
          ExitCode.FAILED, "standard input is closed; name a file, or redirect the input");
    }
    return new FileInputStream(FileDescriptor.in).getChannel();
  }

  /**
   * Returns whether descriptor 0 is a file of the JVM. If a process is started with descriptor 0
   * closed, the first file that it opens gets this descriptor, and the JVM opens that file. Sending
   * it would be wrong, and closing it would be fatal.
   */
  private static boolean isOneOfJavas() {
    try {
      return Files.isSameFile(LINK, Path.of(System.getProperty("java.home"), "lib", "modules"));
    } catch (IOException e) {
      return false; // closed, or not a file
    }
  }
}
