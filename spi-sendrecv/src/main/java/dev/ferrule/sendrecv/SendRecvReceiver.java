// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Connection;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.sendrecv.queue.ReceiveQueue;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.spi.Waiter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The receiving half: receives, polls and frees, over a {@link ReceiveQueue}. */
final class SendRecvReceiver implements Receiver, Waiter.Condition {

  private final SendRecvConnection connection;
  private final Channel channel;
  private final ReceiveQueue queue;
  private final Waiter waiter;
  private final SendRecvReceiveRegion[] regions; // by buffer
  private final int receives;
  private int held;
  private boolean polling;

  private long messages;
  private long bytes;

  SendRecvReceiver(
      SendRecvConnection connection, Channel channel, ReceiveQueue queue, Waiter waiter) {
    this.connection = connection;
    this.channel = channel;
    this.queue = queue;
    this.waiter = waiter;
    this.regions = new SendRecvReceiveRegion[channel.buffers().count()];
    this.receives = regions.length - Channel.CONTROL_RECEIVES;
    for (int i = 0; i < regions.length; i++) {
      regions[i] = new SendRecvReceiveRegion(this, i, channel.buffers());
    }
  }

  Connection connection() {
    return connection;
  }

  @Override
  public @Nullable ReceiveRegion tryReceive() {
    checkHeld();
    return isReady() ? take() : null;
  }

  @Override
  public ReceiveRegion receive() {
    checkHeld();
    if (!isReady()) {
      waiter.await(this, false, 0);
    }
    return take();
  }

  @Override
  public ReceiveRegion receive(Duration timeout) {
    checkHeld();
    if (!isReady() && !waiter.await(this, true, Deadlines.after(timeout))) {
      throw new OperationTimeoutException(connection.uri(), "no message came in time", null);
    }
    return take();
  }

  private void checkHeld() {
    checkNotPolling();
    if (held == receives) {
      connection.life().checkNotReleased();
      throw new IllegalStateException(
          "the program holds all "
              + receives
              + " buffers that there are; free some before receiving more, or raise the option"
              + " receives");
    }
  }

  private void checkNotPolling() {
    if (polling) {
      throw new IllegalStateException("a poll's handler must not receive from the same Receiver");
    }
  }

  private SendRecvReceiveRegion take() {
    SendRecvReceiveRegion region = regions[queue.nextBuffer()];
    region.lend(queue.nextLength());
    queue.advance();
    held++;
    messages++;
    bytes += region.length();
    return region;
  }

  @Override
  public int poll(MessageHandler handler, int limit) {
    if (limit < 1) {
      connection.life().checkNotReleased();
      throw new IllegalArgumentException("a limit of " + limit + " messages");
    }
    checkNotPolling();
    if (!isReady()) {
      return 0;
    }
    int count = 0;
    polling = true;
    try {
      do {
        count++;
        handOver(handler);
      } while (count < limit && !connection.life().isReleased() && queue.hasNext());
    } finally {
      polling = false;
    }
    return count;
  }

  private void handOver(MessageHandler handler) {
    int buffer = queue.nextBuffer();
    int length = queue.nextLength();
    queue.advance();
    messages++;
    bytes += length;
    try {
      handler.onMessage(channel.buffers().view(), channel.buffers().offset(buffer), length);
    } finally {
      giveBack(buffer);
    }
  }

  private void giveBack(int buffer) {
    if (!connection.life().isReleased()) {
      channel.free(buffer);
    }
  }

  /** Whether there is a message; throws if there will never be one again. */
  @Override
  public boolean isReady() {
    connection.life().checkNotReleased();
    if (queue.hasNext()) {
      return true;
    }
    if (!connection.life().hasEnded()) {
      channel.freeForStarvingPeer();
      return false;
    }
    // the peer may have sent its last message between our look and its end
    if (queue.hasNext()) {
      return true;
    }
    throw connection.life().exception(null);
  }

  @Override
  public void free(ReceiveRegion message) {
    if (!(message instanceof SendRecvReceiveRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was received from another connection");
    }
    region.takeBack();
    held--;
    giveBack(region.number());
  }

  @Override
  public void arm() {
    queue.arm();
  }

  @Override
  public boolean isArmed() {
    return true; // an event may have come meanwhile, and then there is no sleep
  }

  @Override
  public void disarm() {
    // an event too many does no harm
  }

  @Override
  public RuntimeException interrupted() {
    return connection.interrupted("receive");
  }

  void wake() {
    waiter.wake();
  }

  void awaitNobodyWaiting(long nanos) {
    waiter.awaitNobody(nanos);
  }

  long messages() {
    return messages;
  }

  long bytes() {
    return bytes;
  }

  long sleeps() {
    return waiter.sleeps();
  }
}
