// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.sendrecv.queue.Channel;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A receive buffer, and the message in it while it is lent out. */
final class SendRecvReceiveRegion implements ReceiveRegion {

  private final int number;
  private final long offset;
  private @Nullable SendRecvReceiver receiver; // to which it is lent
  private @Nullable Channel channel;
  private MemorySegment view = MemorySegment.NULL;
  private int length;

  SendRecvReceiveRegion(int number, long offset) {
    this.number = number;
    this.offset = offset;
  }

  void lend(SendRecvReceiver newReceiver, Channel newChannel, int newLength) {
    receiver = newReceiver;
    channel = newChannel;
    view = newChannel.view();
    length = newLength;
  }

  /** Ends the loan; returns whose message it was. */
  Channel takeBack() {
    Channel known = lent();
    receiver = null;
    channel = null;
    return known;
  }

  boolean isLentBy(SendRecvReceiver candidate) {
    lent();
    return receiver == candidate;
  }

  int number() {
    return number;
  }

  private Channel lent() {
    Channel known = channel;
    if (known == null) {
      throw new IllegalStateException("the region was freed already");
    }
    return known;
  }

  @Override
  public MemorySegment segment() {
    lent();
    return view.asSlice(offset, length);
  }

  @Override
  public MemorySegment buffer() {
    lent();
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
    return SendRecvConnection.of(lent());
  }

  @Override
  public void close() {
    lent();
    SendRecvReceiver known = receiver;
    if (known != null) {
      known.free(this);
    }
  }
}
