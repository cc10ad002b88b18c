// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.SendRegion;
import dev.ferrule.sendrecv.queue.SendQueue;
import java.lang.foreign.MemorySegment;

/** A claimed region: lines of the memory that is sent from. */
final class SendRecvSendRegion implements SendRegion {

  private final SendRecvSender sender;
  private MemorySegment buffer = MemorySegment.NULL;
  private long offset;
  private int length;
  private int line = SendQueue.NO_LINES;
  private boolean claimed;

  SendRecvSendRegion(SendRecvSender sender) {
    this.sender = sender;
  }

  void lend(int newLine, int newLength, MemorySegment memory) {
    buffer = memory;
    offset = newLine < 0 ? 0 : (long) newLine * SendQueue.LINE;
    line = newLine;
    length = newLength;
    claimed = true;
  }

  void takeBack() {
    checkClaimed();
    claimed = false;
  }

  void takeBackChecked(int sentLength) {
    checkClaimed();
    if (sentLength < 0 || sentLength > length) {
      throw new IllegalArgumentException(
          sentLength + " bytes of a region of " + length + " cannot be sent");
    }
    claimed = false;
  }

  boolean belongsTo(SendRecvSender candidate) {
    return sender == candidate;
  }

  int line() {
    return line;
  }

  private void checkClaimed() {
    if (!claimed) {
      throw new IllegalStateException("the region is not claimed: it was sent or aborted already");
    }
  }

  @Override
  public MemorySegment segment() {
    checkClaimed();
    return buffer.asSlice(offset, length);
  }

  @Override
  public MemorySegment buffer() {
    checkClaimed();
    return buffer;
  }

  @Override
  public long offset() {
    return offset;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
