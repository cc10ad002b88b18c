// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/** A copy without protocol, measured as the floor of remote memory access. */
interface BareCopy {

  /** Returns the name of the call in C. */
  String name();

  /** Copies the given number of times. */
  void run(long count);
}
