// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Batch;
import dev.ferrule.SendRegion;

/** The sender's batch: work requests that are posted together, with one doorbell. */
final class SendRecvBatch implements Batch {

  private final SendRecvSender sender;

  SendRecvBatch(SendRecvSender sender) {
    this.sender = sender;
  }

  @Override
  public long add(SendRegion region) {
    return add(region, region.length());
  }

  @Override
  public long add(SendRegion region, int length) {
    sender.stage(region, length);
    return sender.lastId();
  }

  @Override
  public int size() {
    return sender.staged();
  }

  @Override
  public void flush() {
    sender.flush();
  }
}
