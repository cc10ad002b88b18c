// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/** The least that copying takes, to be measured beside remote memory access. */
interface BareCopy {

  /** What it does, by its name in C. */
  String name();

  /** Copies so many times. */
  void run(long count);
}
