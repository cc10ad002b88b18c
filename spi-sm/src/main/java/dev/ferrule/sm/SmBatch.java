// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Batch;
import dev.ferrule.SendRegion;

/** The sender's batch: what is staged in the ring and not published. */
final class SmBatch implements Batch {

  private final SmSender sender;

  SmBatch(SmSender sender) {
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
