// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.sendrecv.queue.ReceiveBuffers;
import java.lang.foreign.MemorySegment;

/** A receive buffer, and the message in it while it is lent out. */
final class SendRecvReceiveRegion implements ReceiveRegion {

  private final SendRecvReceiver receiver;
  private final int number;
  private final MemorySegment view;
  private final long offset;
  private int length;
  private boolean lent;

  SendRecvReceiveRegion(SendRecvReceiver receiver, int number, ReceiveBuffers buffers) {
    this.receiver = receiver;
    this.number = number;
    this.view = buffers.view();
    this.offset = buffers.offset(number);
  }

  void lend(int newLength) {
    length = newLength;
    lent = true;
  }

  void takeBack() {
    checkLent();
    lent = false;
  }

  boolean belongsTo(SendRecvReceiver candidate) {
    return receiver == candidate;
  }

  int number() {
    return number;
  }

  private void checkLent() {
    if (!lent) {
      throw new IllegalStateException("the region was freed already");
    }
  }

  @Override
  public MemorySegment segment() {
    checkLent();
    return view.asSlice(offset, length);
  }

  @Override
  public MemorySegment buffer() {
    checkLent();
    return view;
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
  public Connection connection() {
    return receiver.connection();
  }

  @Override
  public void close() {
    receiver.free(this);
  }
}
