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

  Echo(Sender sender, Receiver receiver) {
    this.sender = sender;
    this.receiver = receiver;
  }

  /** Echoes messages. Spins for each, or waits by the connection's wait strategy. */
  void run(long count, boolean spin) {
    Patience patience = new Patience(Patience.OF_ROUND);
    for (long left = count; left > 0; ) {
      if (!spin) {
        ReceiveRegion message = receiver.receive();
        onMessage(message.buffer(), message.offset(), message.length());
        receiver.free(message);
        left--;
      } else if (receiver.poll(this, 1) == 0) {
        patience.onEmptyPoll();
      } else {
        patience.onMessage();
        left--;
      }
    }
  }

  @Override
  public void onMessage(MemorySegment buffer, long offset, int length) {
    sender.send(buffer, offset, length);
  }
}
