// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import java.util.List;

/**
 * How much to measure.
 *
 * @param sizesBytes the lengths of the messages
 * @param rounds how often everybody has a turn at every size
 * @param roundMillis how long one turn is to take, about
 * @param warmUpMillis how long everybody is warmed up for each size
 */
public record Effort(List<Integer> sizesBytes, int rounds, int roundMillis, int warmUpMillis) {

  private static final Effort THOROUGH =
      new Effort(List.of(8, 16, 64, 128, 256, 1024, 4096), 5, 100, 400);
  private static final Effort QUICK = new Effort(List.of(8, 64, 256), 3, 40, 300);

  /**
   * Returns what is done if nobody says otherwise.
   *
   * @param quick whether fewer sizes, and fewer and shorter rounds, will do
   * @return the effort
   */
  public static Effort usual(boolean quick) {
    return quick ? QUICK : THOROUGH;
  }
}
