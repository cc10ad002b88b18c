// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.peers.match.Measure;
import dev.ferrule.tools.evaluate.Experiment;
import dev.ferrule.tools.evaluate.ExperimentSource;
import java.util.Arrays;
import java.util.List;

/** The comparisons for {@code ferrule evaluate --peers}. */
public final class PeerExperiments implements ExperimentSource {

  /** Called by the service loader. */
  public PeerExperiments() {}

  @Override
  public List<Experiment> experiments(String scheme, boolean quick) {
    return Arrays.stream(Field.values())
        .filter(field -> field.ours().equals(scheme))
        .flatMap(field -> field.measures().stream().map(measure -> of(field, measure, quick)))
        .toList();
  }

  private static Experiment of(Field field, Measure measure, boolean quick) {
    return new PeerExperiment(field, measure, Effort.usual(quick));
  }
}
