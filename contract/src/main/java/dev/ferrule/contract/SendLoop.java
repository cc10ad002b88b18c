// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import dev.ferrule.Connection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * Sends messages by a call that may block, until a call fails or the loop is stopped. A transport
 * may report freed space, or add space, at any later time without any action of the peer's program.
 * A call that has found no space may therefore return at any time. Then the next one blocks.
 */
final class SendLoop implements ThrowingCallable {

  private final Connection connection;
  private final LongConsumer call;
  private volatile long count;
  private volatile long stallsBeforeCall;
  private volatile boolean stopped;

  /**
   * Creates a loop, to be run by one thread.
   *
   * @param first the number of the first message
   * @param call sends the message of the given number
   */
  SendLoop(Connection connection, long first, LongConsumer call) {
    this.connection = connection;
    this.call = call;
    this.count = first;
    this.stallsBeforeCall = stalls();
  }

  @Override
  public void call() {
    while (!stopped) {
      call.accept(count);
      count = count + 1; // only this thread writes it
      stallsBeforeCall = stalls();
    }
  }

  /** Ends the loop after the current call. */
  void stop() {
    stopped = true;
  }

  /** Returns the number of the next message; all earlier ones were sent. */
  long count() {
    return count;
  }

  /**
   * Waits until several consecutive checks have found the same call waiting for space. It is
   * certain that the call has found none, and only likely that its thread has fallen asleep.
   */
  void awaitBlocked() {
    AtomicInteger looks = new AtomicInteger();
    Contract.eventually(
        "a call finds no space",
        () -> {
          long before = stallsBeforeCall;
          boolean same = isBlocked() && stallsBeforeCall == before;
          looks.set(same ? looks.get() + 1 : 0);
          return looks.get() == Background.LOOKS;
        });
  }

  /**
   * Returns whether the current call has found no space. Only this loop uses the sender, so a stall
   * that is counted after the previous call is the current call's.
   */
  private boolean isBlocked() {
    long before = stallsBeforeCall;
    return stalls() > before && stallsBeforeCall == before;
  }

  private long stalls() {
    return connection.counters().backPressureStalls();
  }
}
