// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.evaluate.Experiment;
import java.util.Arrays;
import java.util.List;

/** The comparisons for {@code ferrule evaluate --peers}. */
public final class PeerExperiments {

  private PeerExperiments() {}

  /** Returns experiments that compare one of Ferrule's transports with others. */
  public static List<Experiment> of(String scheme, boolean quick) {
    return Arrays.stream(ComparedProvider.values())
        .filter(field -> field.ours().equals(scheme))
        .flatMap(
            field -> field.measures().stream().map(measure -> experiment(field, measure, quick)))
        .toList();
  }

  private static Experiment experiment(ComparedProvider field, Measure measure, boolean quick) {
    return new PeerExperiment(field, measure, Schedule.usual(quick));
  }
}
