// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.lang.foreign.MemorySegment;

/**
 * The use of registered memory by a connection: from the first message or access to the end of the
 * connection or of the registration. A provider's subclass adds the waits for its messages and
 * accesses.
 */
public abstract class MemoryUse {

  private final SharedRegistration memory;
  private final Lifecycle life;

  /**
   * Creates a use.
   *
   * @param memory the memory
   * @param life the connection's lifecycle
   */
  protected MemoryUse(SharedRegistration memory, Lifecycle life) {
    this.memory = memory;
    this.life = life;
  }

  /** {@return the registered memory} */
  public final SharedRegistration memory() {
    return memory;
  }

  /** {@return the registered segment} */
  public final MemorySegment segment() {
    return memory.segment();
  }

  /**
   * Checks that the memory may be used. The end of the connection, which may have closed the
   * registration, takes precedence.
   *
   * @throws dev.ferrule.FerruleException if the registration is closed, and the connection has
   *     ended
   * @throws IllegalStateException if the registration is closed, or the memory has been freed
   */
  public final void checkOpen() {
    memory.checkOpen(life);
  }

  /**
   * Waits until the messages that senders of the connection have staged from the memory are posted,
   * or never will be.
   *
   * @param start when the wait began, by System.nanoTime; the connection determines its limit
   * @return false after a timeout, as a sender has not flushed
   */
  protected boolean awaitPosted(long start) {
    return true;
  }

  /**
   * Waits until no message or access in progress uses the memory.
   *
   * @param start when the wait began, by System.nanoTime; the connection determines its limit
   * @return false after a timeout, as the peer has not acknowledged
   */
  protected abstract boolean awaitUnused(long start);

  /**
   * Ends the connection after {@link #awaitUnused} has returned false, so that the memory is no
   * longer used.
   */
  protected abstract void giveUp();

  /** Releases the resources of the use. Called once, when no message or access uses the memory. */
  protected void release() {}
}
