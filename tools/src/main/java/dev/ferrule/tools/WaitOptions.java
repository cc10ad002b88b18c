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

/** How the busy threads of a measurement wait, and where they run. */
final class WaitOptions {

  @Option(
      names = "--wait",
      paramLabel = "STRATEGY",
      description =
          "How to wait for messages: ${COMPLETION-CANDIDATES}. Default: spin if there are"
              + " enough processors for it, else adaptive.",
      completionCandidates = Names.class)
  private @Nullable WaitStrategy wait;

  @Option(
      names = "--pin",
      negatable = true,
      description =
          "Keep each busy thread on a processor of its own. Default: if it spins and there are"
              + " enough for all of them.")
  private @Nullable Boolean pin;

  /** The names of the strategies, in lower case. */
  static final class Names implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return java.util.Arrays.stream(WaitStrategy.values()).map(WaitOptions::name).iterator();
    }
  }

  static String name(WaitStrategy strategy) {
    return strategy.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Sets the strategy, unless it was set by {@code --option wait=…} and not here.
   *
   * @param busyThreads how many threads of this host are going to wait, those of the peer included
   */
  void addTo(ConnectionOptions.Builder options, int busyThreads) {
    if (wait != null) {
      options.waitStrategy(wait);
    } else if (!options.build().isSet(StandardOptions.WAIT)) {
      boolean roomToSpin = Pinning.onAllowedCpus().hasRoomFor(busyThreads);
      options.waitStrategy(roomToSpin ? WaitStrategy.SPIN : WaitStrategy.ADAPTIVE);
    }
  }

  /**
   * Where threads that wait like this are to run. Two of them never have to take turns on a
   * processor while others are idle: with more threads than processors they are not pinned at all.
   *
   * @param busyThreads how many threads of this host are going to wait, those of the peer included
   * @param problems is told in one line if that is why they are not pinned
   */
  Pinning pinning(WaitStrategy strategy, int busyThreads, Consumer<String> problems) {
    boolean wanted = pin == null ? strategy == WaitStrategy.SPIN : pin;
    Pinning pinning = wanted ? Pinning.onAllowedCpus() : Pinning.OFF;
    if (pinning == Pinning.OFF || pinning.hasRoomFor(busyThreads)) {
      return pinning;
    }
    problems.accept(
        "not pinned: "
            + busyThreads
            + " busy threads, those of the server included, are more than the "
            + pinning.cpus().size()
            + " CPUs"
            + (strategy == WaitStrategy.SPIN ? "; they slow each other down by spinning" : ""));
    return Pinning.OFF;
  }
}
