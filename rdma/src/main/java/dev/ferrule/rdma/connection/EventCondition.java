// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.support.Waiter;

/** A condition whose waiting threads are woken by events of completion queues. */
interface EventCondition extends Waiter.Condition {

  /** Returns true: if an event has arrived since the request, the thread does not sleep. */
  @Override
  default boolean isArmed() {
    return true;
  }

  /** Does nothing: an event that finds no sleeping thread has no effect. */
  @Override
  default void disarm() {}
}
