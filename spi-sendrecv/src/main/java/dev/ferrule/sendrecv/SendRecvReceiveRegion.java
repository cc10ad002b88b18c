// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Connection;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.spi.AbstractReceiveRegion;
import org.jspecify.annotations.Nullable;

/** A receive buffer, and the message in it while it is lent out. */
final class SendRecvReceiveRegion extends AbstractReceiveRegion {

  private final int number;
  private final long position;
  private @Nullable SendRecvReceiver receiver; // to which it is lent
  private @Nullable Channel channel;

  SendRecvReceiveRegion(int number, long position) {
    this.number = number;
    this.position = position;
  }

  void lend(SendRecvReceiver newReceiver, Channel newChannel, int length) {
    receiver = newReceiver;
    channel = newChannel;
    lend(newChannel.view(), position, length);
  }

  /** Ends the loan; returns whose message it was. */
  Channel takeBack() {
    Channel known = lentChannel();
    endLoan();
    receiver = null;
    channel = null;
    return known;
  }

  boolean isLentBy(SendRecvReceiver candidate) {
    checkLent();
    return receiver == candidate;
  }

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
    checkLent();
    SendRecvReceiver known = receiver;
    if (known != null) {
      known.free(this);
    }
  }
}
