// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

/** A permit to continue, as that of a parked thread, but without spurious wake-ups. */
public final class Permit {

  private boolean available;

  /** Creates a permit that is not available. */
  public Permit() {}

  /** Waits for the permit, and takes it. */
  public synchronized void take() {
    while (!available) {
      try {
        wait();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    available = false;
  }

  /** Makes the permit available. */
  public synchronized void give() {
    available = true;
    notifyAll();
  }
}
