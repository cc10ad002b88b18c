// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.AbstractSendRegion;
import java.lang.foreign.MemorySegment;

/** A claimed region: lines of the send memory. */
final class RdmaSendRegion extends AbstractSendRegion {

  private final RdmaSender sender;
  private int line = SendQueue.NO_LINES;

  RdmaSendRegion(RdmaSender sender) {
    this.sender = sender;
  }

  void lend(int newLine, int newLength, MemorySegment memory) {
    lend(memory, newLine < 0 ? 0 : (long) newLine * SendQueue.LINE, newLength);
    line = newLine;
  }

  boolean belongsTo(RdmaSender candidate) {
    return sender == candidate;
  }

  int line() {
    return line;
  }

  @Override
  protected void checkNotReleased() {
    sender.checkNotReleased();
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
