// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.bench.Pinning;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How the busy threads of a measurement wait, and where they run. */
final class WaitOptions {

  @Option(
      names = "--wait",
      paramLabel = "STRATEGY",
      description =
          "How to wait for messages: ${COMPLETION-CANDIDATES}. Default: spin if there are two"
              + " processors for it, else adaptive.",
      completionCandidates = Names.class)
  private @Nullable WaitStrategy wait;

  @Option(
      names = "--pin",
      negatable = true,
      description =
          "Keep each busy thread on a processor of its own. Default: if it spins and there are two"
              + " for it.")
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

  /** Sets the strategy, unless it was set by {@code --option wait=…} and not here. */
  void addTo(ConnectionOptions.Builder options) {
    if (wait != null) {
      options.waitStrategy(wait);
    } else if (!options.build().isSet(StandardOptions.WAIT)) {
      boolean roomToSpin = Pinning.onAllowedCpus() != Pinning.OFF;
      options.waitStrategy(roomToSpin ? WaitStrategy.SPIN : WaitStrategy.ADAPTIVE);
    }
  }

  /** Where threads that wait like this are to run. */
  Pinning pinning(WaitStrategy strategy) {
    boolean wanted = pin == null ? strategy == WaitStrategy.SPIN : pin;
    return wanted ? Pinning.onAllowedCpus() : Pinning.OFF;
  }
}
