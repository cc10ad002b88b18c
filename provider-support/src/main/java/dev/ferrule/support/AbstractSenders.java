// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * The base class of the senders of a connection: the counts of all of them, closed ones included,
 * and the end of their messages, when all are closed.
 *
 * <p><b>Threads:</b> any thread may call. A subclass removes a closed sender, and calls {@link
 * #countClosed}, under the lock of this.
 *
 * @param <S> the provider's sender
 */
public abstract class AbstractSenders<S extends AbstractSender> {

  // of closed senders; under the lock of this
  private long messages;
  private long bytes;
  private long stalls;
  private long sleeps;

  private int open = 1; // the first, and those that are being opened; under the lock of this

  /** Creates senders, of which the first is open. */
  protected AbstractSenders() {}

  /**
   * Performs an action for each open sender.
   *
   * @param action the action
   */
  protected abstract void forEach(Consumer<S> action);

  /**
   * Adds the counts of a sender that is being removed.
   *
   * @param sender the sender, which is closed
   */
  protected final synchronized void countClosed(S sender) {
    messages += sender.messages();
    bytes += sender.bytes();
    stalls += sender.stalls();
    sleeps += sender.sleeps();
  }

  /**
   * Called before a further sender is opened.
   *
   * @throws IllegalStateException if all senders are closed
   */
  protected final synchronized void opening() {
    if (open == 0) {
      throw new IllegalStateException(
          "all senders of this connection are closed, and the peer was notified that no further"
              + " message follows; open further senders before the last one is closed");
    }
    open++;
  }

  /**
   * Called when a sender is closed, and when one could not be opened after {@link #opening}.
   *
   * @return whether it was the last one, so that the peer is to be notified
   */
  protected final synchronized boolean closedLast() {
    open--;
    return open == 0;
  }

  private long total(long ofClosed, ToLongFunction<S> count) {
    long[] sum = {ofClosed};
    forEach(sender -> sum[0] += count.applyAsLong(sender));
    return sum[0];
  }

  /** {@return the number of published messages} */
  public final synchronized long messages() {
    return total(messages, AbstractSender::messages);
  }

  /** {@return the number of bytes of these messages} */
  public final synchronized long bytes() {
    return total(bytes, AbstractSender::bytes);
  }

  /** {@return how often there was no space} */
  public final synchronized long stalls() {
    return total(stalls, AbstractSender::stalls);
  }

  /** {@return how often a thread that waited for space has fallen asleep} */
  public final synchronized long sleeps() {
    return total(sleeps, AbstractSender::sleeps);
  }
}
