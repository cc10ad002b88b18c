// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import java.util.List;

/**
 * Provides further experiments, such as those on other libraries, which the tools must not depend
 * on. Found by {@link java.util.ServiceLoader} if {@code --peers} is set.
 */
public interface ExperimentSource {

  /**
   * Returns experiments that compare one of Ferrule's transports with others.
   *
   * @param scheme the transport's scheme
   * @param quick whether to measure fewer points
   * @return the experiments; none if there is nothing to compare that transport with
   */
  List<Experiment> experiments(String scheme, boolean quick);
}
