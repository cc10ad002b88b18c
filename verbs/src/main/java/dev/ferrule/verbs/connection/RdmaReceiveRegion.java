// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.Connection;
import dev.ferrule.spi.AbstractReceiveRegion;
import dev.ferrule.verbs.queue.Channel;
import org.jspecify.annotations.Nullable;

/** A message that is lent out, where it came to lie. */
final class RdmaReceiveRegion extends AbstractReceiveRegion {

  private final RdmaReceiver receiver;
  private @Nullable Channel channel; // over which the message came, while it is lent
  private int number;

  RdmaReceiveRegion(RdmaReceiver receiver) {
    this.receiver = receiver;
  }

  void lend(Channel newChannel, int newNumber, int length) {
    channel = newChannel;
    number = newNumber;
    lend(newChannel.view(), newChannel.offset(newNumber), length);
  }

  /** Ends the loan; returns whose message it was. */
  Channel giveBack() {
    Channel known = lentChannel();
    takeBack();
    channel = null; // or a closed connection would be kept in memory
    return known;
  }

  boolean belongsTo(RdmaReceiver candidate) {
    return receiver == candidate;
  }

  /** The number by which the channel knows the message. */
  int number() {
    return number;
  }

  private Channel lentChannel() {
    checkLent();
    Channel known = channel;
    if (known == null) {
      throw new AssertionError("a message that is lent came over a connection");
    }
    return known;
  }

  @Override
  public Connection connection() {
    return RdmaConnection.of(lentChannel());
  }

  @Override
  public void close() {
    receiver.free(this);
  }
}
