// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.List;

/** Looks at one concern. */
@FunctionalInterface
interface Check {

  /**
   * Looks, without changing anything.
   *
   * @return what was found, at least one finding
   */
  List<Finding> run();
}
