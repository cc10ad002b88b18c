// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.sendrecv.queue.SendQueue;
import dev.ferrule.spi.AbstractSendRegion;
import java.lang.foreign.MemorySegment;

/** A claimed region: lines of the memory that is sent from. */
final class SendRecvSendRegion extends AbstractSendRegion {

  private final SendRecvSender sender;
  private int line = SendQueue.NO_LINES;

  SendRecvSendRegion(SendRecvSender sender) {
    this.sender = sender;
  }

  void lend(int newLine, int newLength, MemorySegment memory) {
    lend(memory, newLine < 0 ? 0 : (long) newLine * SendQueue.LINE, newLength);
    line = newLine;
  }

  boolean belongsTo(SendRecvSender candidate) {
    return sender == candidate;
  }

  int line() {
    return line;
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
