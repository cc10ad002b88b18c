// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Connection;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.spi.AbstractReceiveRegion;
import org.jspecify.annotations.Nullable;

/** A message that is lent out, in the receive buffer in which it came. */
final class SendRecvReceiveRegion extends AbstractReceiveRegion {

  private final SendRecvReceiver receiver;
  private @Nullable Channel channel; // over which the message came, while it is lent
  private int number;

  SendRecvReceiveRegion(SendRecvReceiver receiver) {
    this.receiver = receiver;
  }

  void lend(Channel newChannel, int buffer, int length) {
    channel = newChannel;
    number = buffer;
    lend(newChannel.view(), newChannel.buffers().offset(buffer), length);
  }

  /** Ends the loan; returns whose message it was. */
  Channel takeBack() {
    Channel known = lentChannel();
    endLoan();
    channel = null; // or a closed connection would be kept in memory
    return known;
  }

  boolean belongsTo(SendRecvReceiver candidate) {
    return receiver == candidate;
  }

  /** The number of the buffer. */
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
    return SendRecvConnection.of(lentChannel());
  }

  @Override
  public void close() {
    receiver.free(this);
  }
}
