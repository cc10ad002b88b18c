// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import dev.ferrule.tools.model.Crowd;
import dev.ferrule.tools.model.FitResult;
import dev.ferrule.tools.model.Parameter;
import dev.ferrule.tools.model.PerformanceModel;
import java.util.Locale;
import java.util.Set;

/** Says in a cell of a table what a point would have to be faster at. */
final class Bottlenecks {

  /** One of which is known at best, and not which. */
  private static final Set<Parameter> CARDS = Set.of(Parameter.SEND_NIC, Parameter.RECEIVE_NIC);

  private Bottlenecks() {}

  /** The slowest stage of a stream, or what takes most of a single message's time. */
  static String text(FitResult fit, Crowd crowd, boolean latency) {
    PerformanceModel model = fit.model();
    if (!latency) {
      return fit.bottleneck(crowd).words(model.acknowledged());
    }
    int sizeBytes = crowd.load().sizeBytes();
    Parameter part = model.greatestPart(sizeBytes);
    double share = model.partNanos(part, sizeBytes) / model.latencyNanos(sizeBytes);
    boolean bytes = part == Parameter.BYTE_GAP && model.get(Parameter.BYTE_ALONE) > 0;
    String name = bytes ? "G + G_alone" : CARDS.contains(part) ? "o_nsnd or o_nrcv" : part.symbol();
    return String.format(Locale.ROOT, "%s, %.0f %%", name, share * 100);
  }
}
