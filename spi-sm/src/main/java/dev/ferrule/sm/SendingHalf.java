// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.sm.ring.SendingEnd;
import dev.ferrule.support.AbstractSender;
import java.lang.ref.Reference;
import java.net.URI;

/** The sender of a connection, for one thread or for several. */
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

  /** Returns this side's end of the ring. */
  abstract SendingEnd end();

  /** Notifies the receiver that the last message was published. */
  final void markClosed(int reason) {
    end().markClosed(reason);
    Reference.reachabilityFence(this);
  }

  /**
   * Requests a wake-up when there is room. The request is never revoked if several threads send.
   */
  final void armSleep() {
    end().armSleep();
    Reference.reachabilityFence(this);
  }

  /** Returns whether the requested wake-up is still pending. */
  final boolean isSleepArmed() {
    boolean result = end().isSleepArmed();
    Reference.reachabilityFence(this);
    return result;
  }

  /** {@return the exception for an interrupted thread that waits for room} */
  public final RuntimeException interrupted() {
    return connection.interrupted("send");
  }

  @Override
  protected final void requestRoom() {
    armSleep();
  }

  /** Wakes the program that waits for room, which checks again. */
  final void wake() {
    wakeThreads();
    onRoom();
  }

  /** Wakes the threads that wait for room. */
  abstract void wakeThreads();

  /** Retires the mappings of this half, as the connection has ended. */
  void retire() {}

  final long messages() {
    return end().messagesPublished();
  }

  abstract long bytes();

  abstract long sleeps();
}
