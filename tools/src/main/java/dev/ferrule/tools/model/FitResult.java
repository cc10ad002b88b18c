// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.List;
import java.util.Map;

/**
 * What a fit has found.
 *
 * @param model the model that explains the measurements best
 * @param estimates each parameter, and how well it is known
 * @param relativeError the root mean square of how far predictions are off; 0.1 is about 10 %
 * @param notes what the measurements cannot tell, and what does not add up
 */
public record FitResult(
    PerformanceModel model,
    Map<Parameter, Estimate> estimates,
    double relativeError,
    List<String> notes) {

  /**
   * The stage that sets the pace, as far as a fit can tell: not which of the two cards it is.
   *
   * @param load how messages are sent
   * @return the slowest stage
   */
  public Stage bottleneck(Load load) {
    return bottleneck(Crowd.of(load));
  }

  /**
   * The same of several connections.
   *
   * @param crowd the connections
   * @return the slowest stage
   */
  public Stage bottleneck(Crowd crowd) {
    Stage stage = model.bottleneck(crowd);
    return stage == Stage.SENDER_NIC || stage == Stage.RECEIVER_NIC ? Stage.EITHER_NIC : stage;
  }
}
