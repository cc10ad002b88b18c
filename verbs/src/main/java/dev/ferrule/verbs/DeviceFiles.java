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
 * The files by which a process uses devices. The C libraries take a device whose file may not be
 * opened for none at all.
 */
final class DeviceFiles {

  private static final DeviceFiles SYSTEM =
      new DeviceFiles(
          Path.of("/dev/infiniband"), file -> Files.isReadable(file) && Files.isWritable(file));

  private final Path folder;
  private final Predicate<Path> permitted;

  DeviceFiles(Path folder, Predicate<Path> permitted) {
    this.folder = folder;
    this.permitted = permitted;
  }

  static DeviceFiles system() {
    return SYSTEM;
  }

  /** A device's file that this process may not use; none if there is one that it may. */
  Optional<Path> forbidden() {
    List<Path> files;
    try (Stream<Path> found = Files.list(folder)) {
      files =
          found
              .filter(file -> file.getFileName().toString().startsWith("uverbs"))
              .sorted()
              .toList();
    } catch (IOException e) {
      return Optional.empty(); // there is no RDMA
    }
    return files.stream().anyMatch(permitted) ? Optional.empty() : files.stream().findFirst();
  }

  /** The same in words, with what to do. */
  Optional<String> denial() {
    return forbidden().map(file -> problem(file) + ": " + fix(file));
  }

  /** What is wrong with such a file. */
  static String problem(Path file) {
    return "no permission for " + file;
  }

  /** What to do about it. */
  static String fix(Path file) {
    return "chmod a+rw " + file + ", or a udev rule for good";
  }
}
