// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The result of a fit.
 *
 * @param relativeError the root mean square deviation of the predictions; 0.1 is about 10 %
 * @param notes what the measurements do not determine, and contradictions
 */
public record FitResult(
    PerformanceModel model,
    Map<Parameter, Estimate> estimates,
    double relativeError,
    List<String> notes) {

  /** Keeps the order of the parameters, which further searches follow. */
  public FitResult {
    estimates = Collections.unmodifiableMap(new EnumMap<>(estimates));
    notes = List.copyOf(notes);
  }

  /**
   * Returns the slowest stage. As a fit does not determine which of the two cards is the slower
   * one, either card is {@link Stage#EITHER_NIC}.
   */
  public Stage bottleneck(Concurrency concurrency) {
    Stage stage = model.bottleneck(concurrency);
    return stage == Stage.SENDER_NIC || stage == Stage.RECEIVER_NIC ? Stage.EITHER_NIC : stage;
  }
}
