// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

/** What is compared. */
public enum Measure {
  /** Half a round trip, in nanoseconds: less is better. */
  LATENCY,

  /** Messages per second: more is better. */
  RATE
}
