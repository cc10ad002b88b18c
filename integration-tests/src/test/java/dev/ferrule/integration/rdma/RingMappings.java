// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The mappings of rings that this process has added since this object was created. The rings of
 * earlier tests do not count: they may be unmapped at any time.
 */
final class RingMappings {

  private final Set<String> earlier = current();

  /** Returns the mappings, with their addresses and files. */
  Set<String> added() {
    Set<String> result = current();
    result.removeAll(earlier);
    return result;
  }

  /** Returns the page size of each mapping, as in {@code /proc/self/smaps}. */
  List<String> pageSizes() {
    List<String> lines = lines("smaps");
    return IntStream.range(0, lines.size())
        .filter(i -> isRing(lines.get(i)) && !earlier.contains(lines.get(i)))
        .mapToObj(i ->
            lines.subList(i, lines.size()).stream()
                .filter(line -> line.startsWith("KernelPageSize:"))
                .findFirst()
                .orElseThrow()
                .substring("KernelPageSize:".length())
                .strip())
        .toList();
  }

  /** Waits until all are unmapped. No frame of the caller may refer to their connections. */
  void awaitUnmapped() {
    Task.await(
        "all rings are unmapped",
        () -> {
          System.gc();
          return added().isEmpty();
        });
  }

  private static Set<String> current() {
    return lines("maps").stream().filter(RingMappings::isRing).collect(Collectors.toSet());
  }

  private static boolean isRing(String line) {
    return line.contains("ferrule-ring");
  }

  private static List<String> lines(String file) {
    try {
      return Files.readAllLines(Path.of("/proc/self", file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
