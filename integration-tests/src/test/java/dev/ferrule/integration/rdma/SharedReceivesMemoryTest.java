// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Listener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The memory of connections with their own receive buffers and with shared ones: pinned memory, the
 * kernel's memory for queues, and the heap. The clients are in this process, too; they are as small
 * as possible, and equal in both cases.
 */
@RdmaTest
@Timeout(value = 1800, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedReceivesMemoryTest {

  private static final int CONNECTIONS = Integer.getInteger("rdma.connections", 64);

  /** The default numbers of buffers for lengths up to 4 KiB: of a connection, and shared. */
  private static final int OWN_RECEIVES = 256;

  private static final int SHARED_RECEIVES = 4096;

  /** More than one, because memory of closed connections may be released during a measurement. */
  private static final int ATTEMPTS = 5;

  private static final String SMALL = "&wait=block&sendBuffer=4KiB&unacked=8";

  /** In KiB. */
  private record Usage(long pinned, long queues, long heap) {

    /**
     * Returns the usage after it has stopped decreasing, as a cleaner may still free memory. On a
     * slow machine, it may free some even later.
     */
    static Usage now() {
      Usage least = read();
      for (int same = 0; same < 3; ) {
        Task.pause(Duration.ofMillis(100));
        Usage next = read();
        same = next.total() < least.total() - 8 ? 0 : same + 1;
        least = next.total() < least.total() ? next : least;
      }
      return least;
    }

    private static Usage read() {
      System.gc();
      return new Usage(
          kibibytes("/proc/self/status", "VmPin:"),
          kibibytes("/proc/meminfo", "VmallocUsed:"),
          ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10);
    }

    Usage since(Usage before) {
      return new Usage(pinned - before.pinned, queues - before.queues, heap - before.heap);
    }

    long total() {
      return pinned + queues + heap;
    }
  }

  /**
   * The usage in both cases, and that of the process without connections: before, between and after
   * them.
   */
  private record Measurement(
      int maxMessage, Usage before, Usage own, Usage between, Usage shared, Usage after) {

    static Measurement of(int maxMessage) {
      Usage before = Usage.now();
      Usage own = use(maxMessage, "");
      Usage between = Usage.now();
      Usage shared = use(maxMessage, "&srq=on");
      return new Measurement(maxMessage, before, own, between, shared, Usage.now());
    }

    /**
     * Returns whether sharing saves at least the memory of the buffers. Memory that is released
     * during a measurement makes its result too small; it is detected, as the pinned memory without
     * connections then decreases.
     */
    boolean showsTheSaving() {
      long buffers = (long) CONNECTIONS * OWN_RECEIVES - SHARED_RECEIVES;
      return before.pinned == between.pinned
          && between.pinned == after.pinned
          && own.total() - shared.total() >= Math.max(1, buffers * maxMessage >> 10);
    }
  }

  private static long kibibytes(String file, String name) {
    try {
      return Files.readAllLines(Path.of(file)).stream()
          .filter(line -> line.startsWith(name))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void connectionsTakeLessMemoryIfTheyShareTheirReceiveBuffers() {
    shareWith(256);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 1024, 4096})
  @Tag("whole")
  void connectionsWithOtherLengthsTakeLessMemoryIfTheyShareTheirReceiveBuffers(int maxMessage) {
    shareWith(maxMessage);
  }

  private static void shareWith(int maxMessage) {
    use(maxMessage, ""); // warm-up: one-time allocations do not count
    Measurement last = Measurement.of(maxMessage);
    for (int i = 1; i < ATTEMPTS && !last.showsTheSaving(); i++) {
      System.out.println("repeated: " + last);
      last = Measurement.of(maxMessage);
    }

    print(maxMessage, "own", last.own);
    print(maxMessage, "srq=on", last.shared);
    assertThat(last).matches(Measurement::showsTheSaving, "shows that sharing saves the buffers");
  }

  private static Usage use(int maxMessage, String mode) {
    List<Wires.Pair> pairs = new ArrayList<>();
    try (Listener listener = Wires.listen("?maxMessage=" + maxMessage + SMALL + mode)) {
      try {
        Usage before = Usage.now();
        for (int i = 0; i < CONNECTIONS; i++) {
          pairs.add(Wires.pair(listener, "?maxMessage=64&receives=8" + SMALL));
        }
        return Usage.now().since(before);
      } finally {
        pairs.forEach(Wires.Pair::close);
      }
    }
  }

  private static void print(int maxMessage, String mode, Usage usage) {
    System.out.printf(
        "%d connections, maxMessage=%d, %s: %d KiB (pinned %d, queues %d, heap %d)%n",
        CONNECTIONS, maxMessage, mode, usage.total(), usage.pinned(), usage.queues(), usage.heap());
  }
}
