// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.support.AbstractSendRegion;
import dev.ferrule.support.SingleThreadedUse;
import java.lang.foreign.MemorySegment;

/**
 * A claimed region for one message, at a place of its sender's {@link
 * dev.ferrule.rdma.queue.Outbox}.
 */
final class RdmaSendRegion extends AbstractSendRegion {

  private final RdmaSender sender;
  private int place = SendQueue.NO_LINES;

  RdmaSendRegion(RdmaSender sender, SingleThreadedUse use) {
    super(sender, use);
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
  protected long stageMessage(int length) {
    return sender.stage(this, length);
  }

  @Override
  protected void release() {
    sender.release(this);
  }
}
