// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.AbstractSendRegion;
import java.lang.foreign.MemorySegment;

/**
 * A claimed region for one message, at a place of its sender's {@link
 * dev.ferrule.rdma.queue.Outbox}.
 */
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

  int place() {
    return place;
  }

  @Override
  protected void checkNotReleased() {
    sender.checkNotReleased();
  }

  @Override
  public long commit(int length) {
    return sender.commit(this, length);
  }

  @Override
  public long stage(int length) {
    return sender.stage(this, length);
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
