// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.model.Concurrency;
import dev.ferrule.lab.model.FitResult;
import dev.ferrule.lab.model.Parameter;
import dev.ferrule.lab.model.PerformanceModel;
import java.util.Locale;
import java.util.Set;

/** Formats a point's bottleneck for a table. */
final class Bottlenecks {

  /** A fit determines at most one of these, and not which of the two. */
  private static final Set<Parameter> CARDS = Set.of(Parameter.SEND_NIC, Parameter.RECEIVE_NIC);

  private Bottlenecks() {}

  /** Returns the slowest stage of a stream, or the largest part of a single message's latency. */
  static String text(FitResult fit, Concurrency concurrency, boolean latency) {
    PerformanceModel model = fit.model();
    if (!latency) {
      return fit.bottleneck(concurrency).words(model.acknowledged());
    }
    int sizeBytes = concurrency.load().sizeBytes();
    Parameter part = model.greatestPart(sizeBytes);
    double share = model.partNanos(part, sizeBytes) / model.latencyNanos(sizeBytes);
    boolean bytes = part == Parameter.BYTE_GAP && model.get(Parameter.BYTE_ALONE) > 0;
    String name = bytes ? "G + G_alone" : CARDS.contains(part) ? "o_nsnd or o_nrcv" : part.symbol();
    return String.format(Locale.ROOT, "%s, %.0f %%", name, share * 100);
  }
}
