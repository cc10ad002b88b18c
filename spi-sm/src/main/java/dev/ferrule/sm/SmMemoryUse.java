// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.support.Lifecycle;
import dev.ferrule.support.MemoryUse;
import dev.ferrule.support.SharedRegistration;

/**
 * Registered memory as used by a connection. Shared memory needs no registration, so this only
 * implements the contract of providers that do: messages are copied when they are sent, and closing
 * waits for accesses.
 */
final class SmMemoryUse extends MemoryUse {

  private final SmRma rma;
  private volatile long lastFragments; // the last operation whose fragments the peer copies

  SmMemoryUse(SharedRegistration memory, Lifecycle life, SmRma rma) {
    super(memory, life);
    this.rma = rma;
  }

  /** Marks an operation on it as copied by fragments. */
  void usedByFragments(long id) {
    lastFragments = id;
  }

  long lastFragments() {
    return lastFragments;
  }

  @Override
  protected boolean awaitUnused(long start) {
    return rma.awaitUnused(this, start);
  }

  @Override
  protected void giveUp() {
    rma.giveUp();
  }
}
