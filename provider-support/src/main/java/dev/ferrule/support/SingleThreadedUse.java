// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.Receiver;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Detects that two threads concurrently use a half of a connection that is confined to one thread
 * at a time. The second thread gets an {@link IllegalStateException} that names both.
 *
 * <p>The check is off by default and then costs nothing: {@link #check(Receiver)} returns its
 * argument, and {@link #begin} and {@link #end} are empty. Assertions ({@code -ea}) turn it on. The
 * system property {@value #PROPERTY} turns it on or off regardless of assertions.
 */
public final class SingleThreadedUse {

  /** The system property that turns the check on ({@code true}) or off ({@code false}). */
  public static final String PROPERTY = "ferrule.checkThreads";

  private static final boolean CHECKED =
      Boolean.parseBoolean(
          System.getProperty(
              PROPERTY, Boolean.toString(SingleThreadedUse.class.desiredAssertionStatus())));

  private final Supplier<String> what;
  private final AtomicReference<@Nullable Thread> user = new AtomicReference<>();
  private int depth; // nesting depth of the user's calls, as a handler or region may call again

  /**
   * Creates a check for one half of a connection.
   *
   * @param what names the half in the exception, as in "the receiver of sm:///tmp/app/1/2#3"
   */
  public SingleThreadedUse(Supplier<String> what) {
    this.what = what;
  }

  /** {@return whether the check is on in this process} */
  public static boolean isChecked() {
    return CHECKED;
  }

  /**
   * Wraps a receiver with the check.
   *
   * @param receiver a provider's receiver
   * @return a receiver for the program; the argument itself if the check is off
   */
  public Receiver check(Receiver receiver) {
    return CHECKED ? new CheckedReceiver(receiver, this) : receiver;
  }

  /**
   * Wraps a sender with the check.
   *
   * @param sender a provider's sender for one thread at a time
   * @return a sender for the program; the argument itself if the check is off
   */
  public Sender check(Sender sender) {
    return CHECKED ? new CheckedSender(sender, this) : sender;
  }

  /**
   * Wraps remote memory access with the check.
   *
   * @param rma a provider's remote memory access
   * @return remote memory access for the program; the argument itself if the check is off
   */
  public Rma check(Rma rma) {
    return CHECKED ? new CheckedRma(rma, this) : rma;
  }

  /**
   * Begins a use by the current thread; may be nested within another use by the same thread.
   *
   * @throws IllegalStateException if another thread is in a use
   */
  public void begin() {
    if (CHECKED) {
      enter();
    }
  }

  /** Ends the use begun by the current thread's last {@link #begin}. */
  public void end() {
    if (CHECKED) {
      leave();
    }
  }

  /** Begins a use even if the check is off, for tests. */
  void enter() {
    Thread current = Thread.currentThread();
    if (user.get() != current) {
      Thread other = user.compareAndExchange(null, current);
      if (other != null) {
        throw new IllegalStateException(
            what.get()
                + " was used by two threads at the same time, \""
                + current.getName()
                + "\" while \""
                + other.getName()
                + "\" was in a call; only one thread at a time may use it");
      }
    }
    depth++;
  }

  void leave() {
    depth--;
    if (depth == 0) {
      user.set(null);
    }
  }
}
