// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.List;

/** A check of one requirement. */
@FunctionalInterface
interface Check {

  /**
   * Runs the check, which changes nothing.
   *
   * @return the findings, at least one
   */
  List<Finding> run();
}
