// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The operating system resources held by this process, as reported by Linux. */
public final class SystemResources {

  private SystemResources() {}

  /** {@return the target of each open file descriptor of this process} */
  public static List<String> openDescriptors() {
    try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
      return links.map(SystemResources::target).sorted().collect(Collectors.toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the memory mappings of this process that are backed by a matching file or device.
   *
   * @param fragment a part of the file's path
   * @return the lines of {@code /proc/self/maps}, sorted
   */
  public static List<String> mappings(String fragment) {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(fragment)).sorted().collect(Collectors.toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns a directory and everything below it.
   *
   * @param directory a directory, which need not exist
   * @return the paths, sorted; empty if there is no such directory
   */
  public static List<String> files(Path directory) {
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.map(Path::toString).sorted().collect(Collectors.toList());
    } catch (IOException | UncheckedIOException e) {
      return List.of(directory + " while it changes: " + e); // files are being deleted there; retry
    }
  }

  static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(Thread::isAlive)
        .map(Thread::getName)
        .sorted()
        .collect(Collectors.toList());
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return "closed since"; // such as the descriptor used to list the directory
    }
  }
}
