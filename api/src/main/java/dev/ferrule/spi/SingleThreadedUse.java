// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.Receiver;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Detects that two threads use a half of a connection at the same time, which only one thread at a
 * time may use, for providers. The second thread gets an {@link IllegalStateException} that names
 * both.
 *
 * <p>It is off by default and then costs nothing: {@link #check(Receiver)} returns what it is
 * given, and {@link #begin} and {@link #end} are empty. Assertions ({@code -ea}) turn it on, and
 * the system property {@value #PROPERTY} turns it on or off whatever they are.
 */
public final class SingleThreadedUse {

  /** The system property that turns the check on ({@code true}) or off ({@code false}). */
  public static final String PROPERTY = "ferrule.checkThreads";

  private static final boolean CHECKED =
      Boolean.parseBoolean(
          System.getProperty(
              PROPERTY, Boolean.toString(SingleThreadedUse.class.desiredAssertionStatus())));

  private final Supplier<String> what;
  private final AtomicReference<Thread> user = new AtomicReference<>();
  private int depth; // of the user, which a handler or a region may call once more

  /**
   * Creates the check of one half.
   *
   * @param what names the half in the exception, as in "the receiver of sm:///tmp/app/1/2#3"
   */
  public SingleThreadedUse(Supplier<String> what) {
    this.what = what;
  }

  /**
   * Returns whether uses are checked in this process.
   *
   * @return whether they are
   */
  public static boolean isChecked() {
    return CHECKED;
  }

  /**
   * Returns a receiver that checks its uses.
   *
   * @param receiver a provider's receiver
   * @return a receiver for the program; the same one if uses are not checked
   */
  public Receiver check(Receiver receiver) {
    return CHECKED ? new CheckedReceiver(receiver, this) : receiver;
  }

  /**
   * Returns a sender that checks its uses.
   *
   * @param sender a provider's sender for one thread at a time
   * @return a sender for the program; the same one if uses are not checked
   */
  public Sender check(Sender sender) {
    return CHECKED ? new CheckedSender(sender, this) : sender;
  }

  /**
   * Returns remote memory access that checks its uses.
   *
   * @param rma a provider's
   * @return remote memory access for the program; the same one if uses are not checked
   */
  public Rma check(Rma rma) {
    return CHECKED ? new CheckedRma(rma, this) : rma;
  }

  /**
   * Begins a use by the current thread, which may be within another use of the same thread.
   *
   * @throws IllegalStateException if another thread is within a use
   */
  public void begin() {
    if (CHECKED) {
      enter();
    }
  }

  /** Ends what the last {@link #begin} of the current thread has begun. */
  public void end() {
    if (CHECKED) {
      leave();
    }
  }

  /** Checks whether or not uses are checked in this process, for tests. */
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
                + "\" was in a call; let one thread at a time use it");
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
