// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.SendRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory for one message at one end: lent to the program, or not. */
abstract class Slot {

  final MemorySegment memory; // of all slots
  final long offset;
  boolean lent;
  int length;

  Slot(MemorySegment memory, long offset) {
    this.memory = memory;
    this.offset = offset;
  }

  final void checkLent() {
    if (!lent) {
      throw new IllegalStateException("the region was already sent, aborted or freed");
    }
  }

  public final MemorySegment segment() {
    return buffer().asSlice(offset, length);
  }

  public final MemorySegment buffer() {
    synchronized (half().lock) {
      half().connection.checkNotClosed();
      checkLent();
      return memory;
    }
  }

  @Override
  public String toString() {
    return lent ? "region of " + length + " bytes" : "region that is not claimed";
  }

  /** Returns the half that lends this. */
  abstract QueueHalf<?> half();

  public final long offset() {
    return offset;
  }

  public final int length() {
    return length;
  }

  /** A slot at the sending end, which belongs to one slot at the receiving end. */
  static final class Outgoing extends Slot implements SendRegion {
    final QueueSender sender;
    final Incoming target;

    Outgoing(QueueSender sender, MemorySegment memory, Incoming target) {
      super(memory, target.offset);
      this.sender = sender;
      this.target = target;
    }

    @Override
    QueueHalf<?> half() {
      return sender;
    }

    @Override
    public long commit(int sentLength) {
      return sender.commit(this, sentLength);
    }

    @Override
    public long stage(int sentLength) {
      return sender.stage(this, sentLength);
    }

    @Override
    public void abort() {
      sender.abort(this);
    }

    @Override
    public void close() {
      sender.close(this);
    }
  }

  /** A slot at the receiving end. */
  static final class Incoming extends Slot implements ReceiveRegion {
    final QueueReceiver receiver;
    final MemorySegment writable;
    @Nullable Outgoing source; // set when a message arrives

    Incoming(QueueReceiver receiver, MemorySegment memory, long offset) {
      super(memory.asReadOnly(), offset);
      this.receiver = receiver;
      this.writable = memory;
    }

    @Override
    QueueHalf<?> half() {
      return receiver;
    }

    @Override
    public Connection connection() {
      return receiver.connection;
    }

    @Override
    public void close() {
      receiver.free(this);
    }
  }
}
