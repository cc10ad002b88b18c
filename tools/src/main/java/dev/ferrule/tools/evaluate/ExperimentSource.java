// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import java.util.List;

/**
 * Experiments that are not Ferrule's own, such as those on other libraries, which the tools must
 * not depend on. Found by {@link java.util.ServiceLoader}, on {@code --peers}.
 */
public interface ExperimentSource {

  /**
   * Returns experiments that show what one of Ferrule's transports is to be compared to.
   *
   * @param scheme the transport's
   * @param quick whether fewer points will do
   * @return the experiments; none if there is nothing to compare that transport to
   */
  List<Experiment> experiments(String scheme, boolean quick);
}
