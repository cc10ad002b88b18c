// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * The common part of the tests with a second process: a directory on a tmpfs, if there is one, and
 * waits with a timeout.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ProcessTest {

  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  Path directory = Path.of("");

  @BeforeEach
  void makeDirectory() throws IOException {
    Path base =
        Files.isWritable(SHARED_MEMORY)
            ? SHARED_MEMORY
            : Path.of(System.getProperty("java.io.tmpdir"));
    directory = Files.createTempDirectory(base, "ferrule-test-");
  }

  @AfterEach
  void removeDirectory() throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
        Files.deleteIfExists(path);
      }
    }
  }

  String address() {
    return "sm://" + directory;
  }

  List<Path> files() throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.filter(path -> !path.equals(directory)).toList();
    }
  }

  /** Waits until a condition holds; the caller asserts it afterwards. */
  static void await(Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    while (!condition.call() && System.nanoTime() < deadline) {
      Thread.sleep(1);
    }
  }
}
