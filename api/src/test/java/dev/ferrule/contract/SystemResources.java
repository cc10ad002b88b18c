// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What this process holds of the operating system, as Linux tells it. */
public final class SystemResources {

  private SystemResources() {}

  /**
   * Returns the open file descriptors of this process.
   *
   * @return what each refers to, sorted
   */
  public static List<String> openDescriptors() {
    try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
      return links.map(SystemResources::target).sorted().collect(Collectors.toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the memory mappings of this process that belong to some file or device.
   *
   * @param fragment what the file's path contains
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
   * Returns what lies under a directory, and the directory itself.
   *
   * @param directory a directory, which need not be there
   * @return the paths, sorted; empty if there is no such directory
   */
  public static List<String> files(Path directory) {
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.map(Path::toString).sorted().collect(Collectors.toList());
    } catch (IOException | UncheckedIOException e) {
      return List.of(directory + " while it changes: " + e); // somebody deletes there; ask again
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
      return "closed since"; // such as the descriptor by which the directory was listed
    }
  }
}
