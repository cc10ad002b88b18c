// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;

/** Sends each message back, straight from the receive buffer. */
final class Echo implements MessageHandler {

  private final Sender sender;
  private final Receiver receiver;
  private final int endLength;
  private long left;

  Echo(Sender sender, Receiver receiver, Round round) {
    this.sender = sender;
    this.receiver = receiver;
    endLength = round.endLength();
    left = round.count();
  }

  /** Echoes messages. Spins for each, or waits by the connection's wait strategy. */
  void run(boolean spin) {
    Patience patience = new Patience(Patience.OF_ROUND);
    while (left > 0) {
      if (!spin) {
        ReceiveRegion message = receiver.receive();
        onMessage(message.buffer(), message.offset(), message.length());
        receiver.free(message);
      } else if (receiver.poll(this, 1) == 0) {
        patience.onEmptyPoll();
      } else {
        patience.onMessage();
      }
    }
  }

  @Override
  public void onMessage(MemorySegment buffer, long offset, int length) {
    sender.send(buffer, offset, length);
    left = length == endLength ? 0 : left - 1;
  }
}
