// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Connection;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.support.AbstractReceiveRegion;
import org.jspecify.annotations.Nullable;

/** A received message that is lent to the program, in place. */
final class RdmaReceiveRegion extends AbstractReceiveRegion {

  private final RdmaReceiver receiver;
  private @Nullable Channel channel; // of the message, while it is lent
  private int number;

  RdmaReceiveRegion(RdmaReceiver receiver) {
    this.receiver = receiver;
  }

  void lend(Channel newChannel, int newNumber, int length) {
    channel = newChannel;
    number = newNumber;
    lend(newChannel.view(), newChannel.offset(newNumber), length);
  }

  /** Ends the loan; returns the channel of the message. */
  Channel giveBack() {
    Channel known = lentChannel();
    takeBack();
    channel = null; // so that a closed connection can be garbage collected
    return known;
  }

  boolean belongsTo(RdmaReceiver candidate) {
    return receiver == candidate;
  }

  /** Returns the message's number in its channel. */
  int number() {
    return number;
  }

  private Channel lentChannel() {
    checkLent();
    Channel known = channel;
    if (known == null) {
      throw new AssertionError("a lent message has a connection");
    }
    return known;
  }

  @Override
  protected void checkNotReleased() {
    ConnectionEvents.of(lentChannel()).life().checkNotReleased();
  }

  @Override
  public Connection connection() {
    return ConnectionEvents.of(lentChannel()).connection();
  }

  @Override
  public void close() {
    receiver.free(this);
  }
}
