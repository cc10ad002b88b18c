// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.bench.Pinning;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How the threads of a measurement wait, and whether they are pinned to processors. */
final class WaitOptions {

  @Option(
      names = "--wait",
      paramLabel = "STRATEGY",
      description =
          "Wait strategy: spin, adaptive or block. Default: spin if there are enough processors,"
              + " otherwise adaptive.")
  private @Nullable WaitStrategy wait;

  @Option(
      names = "--pin",
      negatable = true,
      description =
          "Pin each busy thread to its own processor. Default: only if the threads spin and there"
              + " are enough processors for all.")
  private @Nullable Boolean pin;

  static String name(WaitStrategy strategy) {
    return strategy.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Sets the wait strategy: that of {@code --wait}, else that of {@code --option wait=…}, else the
   * default. The busy threads are all threads that wait on this host, including the peer's.
   */
  void addTo(ConnectionOptions.Builder options, int busyThreads) {
    if (wait != null) {
      options.set(StandardOptions.WAIT, wait);
    } else if (options.build().find(StandardOptions.WAIT).isEmpty()) {
      boolean roomToSpin = Pinning.onAllowedCpus().hasRoomFor(busyThreads);
      options.set(StandardOptions.WAIT, roomToSpin ? WaitStrategy.SPIN : WaitStrategy.ADAPTIVE);
    }
  }

  /**
   * Returns the pinning of waiting threads. With more threads than processors none is pinned, since
   * two threads pinned to one processor would share it while others are idle.
   */
  Pinning pinning(WaitStrategy strategy, int busyThreads, Consumer<String> problems) {
    boolean wanted = pin == null ? strategy == WaitStrategy.SPIN : pin;
    Pinning pinning = wanted ? Pinning.onAllowedCpus() : Pinning.OFF;
    if (pinning == Pinning.OFF || pinning.hasRoomFor(busyThreads)) {
      return pinning;
    }
    problems.accept(
        "not pinned: %s busy threads, including the server's, and only %s CPUs"
                .formatted(busyThreads, pinning.cpus().size())
            + (strategy == WaitStrategy.SPIN ? "; spinning threads slow each other down" : ""));
    return Pinning.OFF;
  }
}
