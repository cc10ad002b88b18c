// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import java.util.function.BooleanSupplier;

/**
 * The moment of a close. From round to round, it approaches the moment at which another thread's
 * call ends, so that the two overlap on any machine.
 */
public final class ClosingMoment {

  private long spins;

  /** Creates a moment. The first round does not wait. */
  public ClosingMoment() {}

  /**
   * Waits for the moment of this round.
   *
   * @param isCallOver returns whether the other thread's call has ended
   */
  public void await(BooleanSupplier isCallOver) {
    for (long i = 0; i < spins; i++) {
      Thread.onSpinWait();
    }
    spins = isCallOver.getAsBoolean() ? spins - spins / 8 : spins + spins / 8 + 8;
  }
}
