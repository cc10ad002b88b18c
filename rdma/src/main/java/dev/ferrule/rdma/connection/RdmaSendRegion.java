// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.AbstractSendRegion;
import java.lang.foreign.MemorySegment;

/** A claimed region, at a place of its sender's {@link dev.ferrule.rdma.queue.Outbox}. */
final class RdmaSendRegion extends AbstractSendRegion {

  private final RdmaSender sender;
  private int place = SendQueue.NO_LINES;

  RdmaSendRegion(RdmaSender sender) {
    this.sender = sender;
  }

  void lend(int newPlace, int newLength, MemorySegment memory, long offset) {
    lend(memory, offset, newLength);
    place = newPlace;
  }

  boolean belongsTo(RdmaSender candidate) {
    return sender == candidate;
  }

  int place() {
    return place;
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
