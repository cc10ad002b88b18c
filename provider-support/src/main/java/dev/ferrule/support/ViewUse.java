// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Marks that a thread is in a poll, whose handler may use the memory of a connection. The thread
 * that closes the connection then does not free the pages of that memory, so that the handler reads
 * its whole message, and no zeros.
 *
 * <p>This is a Dekker-style store–load handshake. The polling thread {@linkplain #begin begins} a
 * use and then checks whether the connection is closed. The closing thread marks the connection as
 * closed and then checks whether the memory {@linkplain #isByAnother is in use}. Each needs a
 * barrier between its store and its load.
 */
public final class ViewUse {

  private static final VarHandle USER;

  private static final long NONE = 0; // no thread has this id

  static {
    try {
      USER = MethodHandles.lookup().findVarHandle(ViewUse.class, "user", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // the thread's id: storing a reference would cost a barrier of the garbage collector
  private long user;

  /** Creates a mark for memory that is not in use. */
  public ViewUse() {}

  /** Begins a use by the current thread, with a full barrier. */
  public void begin() {
    USER.setVolatile(this, Thread.currentThread().threadId());
  }

  /**
   * Begins a use by the current thread, without a barrier. The closing thread must make every
   * thread of this process execute a barrier (membarrier(2)) before it checks.
   */
  public void beginWithoutBarrier() {
    USER.setOpaque(this, Thread.currentThread().threadId());
    VarHandle.releaseFence(); // keeps the compiler from hoisting later loads
  }

  /** Ends the use. */
  public void end() {
    USER.setRelease(this, NONE);
  }

  /** {@return whether the memory is in use} For the thread that uses it. */
  public boolean isInUse() {
    return user != NONE;
  }

  /**
   * Returns whether a thread other than the closing one uses the memory. The closing thread may
   * close from within its own handler.
   *
   * @param closer the closing thread
   * @return true if another thread uses the memory
   */
  public boolean isByAnother(Thread closer) {
    long thread = (long) USER.getAcquire(this);
    return thread != NONE && thread != closer.threadId();
  }
}
