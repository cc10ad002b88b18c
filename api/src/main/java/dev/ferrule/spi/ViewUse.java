// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Marks that a thread is in a poll, whose handler may use the memory of a connection, for
 * providers. The thread that closes the connection leaves that memory to {@link ArenaCloser} until
 * the handler is done: closing it at once would fail the handler's next access, and HotSpot would
 * interrupt its thread.
 *
 * <p>It is a Dekker-style store-load handshake. The polling thread {@linkplain #begin begins} and
 * then looks whether the connection is closed; the closing thread marks it as closed and then looks
 * whether it {@linkplain #isByAnother is in use}. Each needs a barrier between its store and its
 * load.
 */
public final class ViewUse {

  private static final VarHandle USER;

  private static final long NONE = 0; // no thread has this identifier

  static {
    try {
      USER = MethodHandles.lookup().findVarHandle(ViewUse.class, "user", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // its identifier: a reference would cost a barrier of the garbage collector
  private long user;

  /** Creates a mark of memory that is not in use. */
  public ViewUse() {}

  /** Begins a use by the current thread, with a full barrier. */
  public void begin() {
    USER.setVolatile(this, Thread.currentThread().threadId());
  }

  /**
   * Begins a use by the current thread, for a closing thread that has every thread of this process
   * run a barrier (membarrier(2)) before it looks. Costs no barrier here.
   */
  public void beginWithoutBarrier() {
    USER.setOpaque(this, Thread.currentThread().threadId());
    VarHandle.releaseFence(); // keeps the compiler from moving later loads up
  }

  /** Ends the use. */
  public void end() {
    USER.setRelease(this, NONE);
  }

  /**
   * Returns whether the memory is in use, for the thread that uses it.
   *
   * @return whether it is
   */
  public boolean isInUse() {
    return user != NONE;
  }

  /**
   * Returns whether the memory is in use by another thread than the one that closes: that one may
   * do so from inside its own handler.
   *
   * @param closer the thread that closes
   * @return whether it is
   */
  public boolean isByAnother(Thread closer) {
    long thread = (long) USER.getAcquire(this);
    return thread != NONE && thread != closer.threadId();
  }
}
