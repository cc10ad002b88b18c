// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import dev.ferrule.tools.model.Crowd;
import dev.ferrule.tools.model.FitResult;
import dev.ferrule.tools.model.Parameter;
import dev.ferrule.tools.model.PerformanceModel;
import java.util.Locale;

/** Says in a cell of a table what a point would have to be faster at. */
final class Bottlenecks {

  private Bottlenecks() {}

  /** The slowest stage of a stream, or what takes most of a single message's time. */
  static String text(FitResult fit, Crowd crowd, boolean latency) {
    if (!latency) {
      return fit.bottleneck(crowd).toString();
    }
    PerformanceModel model = fit.model();
    int sizeBytes = crowd.load().sizeBytes();
    Parameter part = model.greatestPart(sizeBytes);
    double share = model.partNanos(part, sizeBytes) / model.latencyNanos(sizeBytes);
    boolean bytes = part == Parameter.BYTE_GAP && model.get(Parameter.BYTE_ALONE) > 0;
    String name = bytes ? "G + G_alone" : part.symbol();
    return String.format(Locale.ROOT, "%s, %.0f %%", name, share * 100);
  }
}
