// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.sm.ring.SendingEnd;
import dev.ferrule.spi.AbstractSender;
import java.lang.ref.Reference;
import java.net.URI;

/** What a connection wants of its sender, be it for one thread or for several. */
abstract class SendingHalf extends AbstractSender {

  private final SmConnection connection;

  SendingHalf(SmConnection connection, int maxMessageSize) {
    super(maxMessageSize);
    this.connection = connection;
  }

  @Override
  protected final URI uri() {
    return connection.uri();
  }

  @Override
  protected final void checkOpen() {
    connection.checkOpen();
  }

  @Override
  public final long sendAsync(RegisteredMemory memory, long offset, int length) {
    connection.checkOpen();
    if (!(memory instanceof SmRegisteredMemory registered)
        || registered.connection() != connection) {
      throw new IllegalArgumentException("the memory was registered with another connection");
    }
    registered.checkOpen();
    return send(registered.segment(), offset, length);
  }

  /** This side's end of the ring. */
  abstract SendingEnd end();

  /** Has the receiver know that the last message was published. */
  final void markClosed(int reason) {
    end().markClosed(reason);
    Reference.reachabilityFence(this);
  }

  /** Asks for a wake-up when there is room. Nobody takes that back, if several threads send. */
  final void armSleep() {
    end().armSleep();
    Reference.reachabilityFence(this);
  }

  /** Whether that was not answered yet. */
  final boolean isSleepArmed() {
    boolean result = end().isSleepArmed();
    Reference.reachabilityFence(this);
    return result;
  }

  /**
   * Returns what to throw when a thread that waits for room is interrupted.
   *
   * @return the exception
   */
  public final RuntimeException interrupted() {
    return connection.interrupted("send");
  }

  /** Has whoever waits for room look again. */
  abstract void wake();

  final long messages() {
    return end().messagesPublished();
  }

  abstract long bytes();

  abstract long sleeps();
}
