// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.spi.Waiter;

/** A condition whose wake-ups are the events of completion queues. */
interface EventCondition extends Waiter.Condition {

  /** Returns true: an event may have come meanwhile, and then the thread does not sleep. */
  @Override
  default boolean isArmed() {
    return true;
  }

  /** Does nothing: an event that comes although no thread sleeps does no harm. */
  @Override
  default void disarm() {}
}
