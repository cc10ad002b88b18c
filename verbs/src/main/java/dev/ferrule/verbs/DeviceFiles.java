// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The device files of uverbs. libibverbs does not list a device whose file the process may not
 * open.
 */
public final class DeviceFiles {

  private static final DeviceFiles SYSTEM =
      new DeviceFiles(
          Path.of("/dev/infiniband"), file -> Files.isReadable(file) && Files.isWritable(file));

  private final Path folder;
  private final Predicate<Path> permitted;

  /**
   * Creates an instance for a folder.
   *
   * @param folder the folder of the device files
   * @param permitted returns whether this process may read and write a file
   */
  public DeviceFiles(Path folder, Predicate<Path> permitted) {
    this.folder = folder;
    this.permitted = permitted;
  }

  /** {@return the device files of this system, in /dev/infiniband} */
  public static DeviceFiles system() {
    return SYSTEM;
  }

  /**
   * {@return the first device file, if this process may open none of them; empty if there is no
   * device file, or if the process may open one}
   */
  public Optional<Path> forbidden() {
    List<Path> files;
    try (Stream<Path> found = Files.list(folder)) {
      files =
          found
              .filter(file -> file.getFileName().toString().startsWith("uverbs"))
              .sorted()
              .toList();
    } catch (IOException e) {
      return Optional.empty(); // the kernel has no RDMA
    }
    return files.stream().anyMatch(permitted) ? Optional.empty() : files.stream().findFirst();
  }

  /**
   * {@return the result of {@link #forbidden()} as a sentence with the fix; empty if {@link
   * #forbidden()} is empty}
   */
  public Optional<String> denial() {
    return forbidden().map(file -> problem(file) + ": " + fix(file));
  }

  /**
   * Returns the problem with a file that this process may not open.
   *
   * @param file the file
   * @return a phrase with the file's name
   */
  public static String problem(Path file) {
    return "no permission for " + file;
  }

  /**
   * Returns the fix for a file that this process may not open.
   *
   * @param file the file
   * @return a command
   */
  public static String fix(Path file) {
    return "chmod a+rw " + file + ", or add a udev rule to make it permanent";
  }
}
