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
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedReceivesMemoryTest {

  private static final int CONNECTIONS = Integer.getInteger("rdma.connections", 64);
  private static final String SMALL = "&wait=block&buffer=4KiB&unacked=8";

  /** In KiB. */
  private record Usage(long pinned, long queues, long heap) {

    /**
     * Returns the usage when it no longer decreases: a cleaner, or the thread that closes arenas,
     * may still have something to free.
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
    Usage own = use(maxMessage, "");
    Usage shared = use(maxMessage, "&srq=on");

    print(maxMessage, "own", own);
    print(maxMessage, "srq=on", shared);
    assertThat(shared.total()).isLessThan(own.total());
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
