// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.FerruleException;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.sendrecv.queue.Inbox;
import dev.ferrule.sendrecv.queue.ReceiveSource;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.spi.Waiter;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a connection, or of all connections of a listener: receives, polls and
 * frees, over an {@link Inbox} that a {@link ReceiveSource} fills.
 */
final class SendRecvReceiver implements Receiver, Waiter.Condition {

  /** What receives: a connection, or a listener for all of its. */
  interface Owner {

    /** Names it in errors. */
    URI uri();

    /** Throws if nothing can be received any more, not even what has come. */
    void checkUsable();

    /** Whether nothing more will come. */
    boolean hasEnded();

    /** What to throw then. */
    FerruleException end();

    /** What to throw when the waiting thread is interrupted. */
    FerruleException interrupted(String doing);

    /** Posts what was freed, to peers that can send nothing without. */
    void freeForStarvingPeers();

    /** How many messages the program may hold; 0 if nobody knows. */
    int capacity();
  }

  private static final int REGIONS_AT_ONCE = 32;

  private final Owner owner;
  private final ReceiveSource queue;
  private final Inbox inbox;
  private final Waiter waiter;
  private SendRecvReceiveRegion[] idle = {}; // a stack: the one used last is the warmest
  private int idleCount;
  private int held;
  private boolean polling;

  private long messages;
  private long bytes;

  SendRecvReceiver(Owner owner, ReceiveSource queue, Inbox inbox, Waiter waiter) {
    this.owner = owner;
    this.queue = queue;
    this.inbox = inbox;
    this.waiter = waiter;
  }

  @Override
  public @Nullable ReceiveRegion tryReceive() {
    checkMayReceive();
    return isReady() ? take() : null;
  }

  @Override
  public ReceiveRegion receive() {
    checkMayReceive();
    if (!isReady()) {
      waiter.await(this, false, 0);
    }
    return take();
  }

  @Override
  public ReceiveRegion receive(Duration timeout) {
    checkMayReceive();
    if (!isReady() && !waiter.await(this, true, Deadlines.after(timeout))) {
      throw new OperationTimeoutException(owner.uri(), "no message came in time", null);
    }
    return take();
  }

  private void checkMayReceive() {
    checkNotPolling();
    if (held == owner.capacity() && held > 0) {
      owner.checkUsable();
      throw new IllegalStateException(
          "the program holds all "
              + held
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
    Channel channel = inbox.nextChannel();
    if (idleCount == 0) {
      addRegions();
    }
    SendRecvReceiveRegion region = idle[--idleCount];
    region.lend(channel, inbox.nextBuffer(), inbox.nextLength());
    inbox.advance();
    held++;
    messages++;
    bytes += region.length();
    return region;
  }

  /** There are never more regions than messages that the program has held at a time. */
  private void addRegions() {
    idle = new SendRecvReceiveRegion[idle.length + REGIONS_AT_ONCE];
    for (int i = 0; i < REGIONS_AT_ONCE; i++) {
      idle[idleCount++] = new SendRecvReceiveRegion(this);
    }
  }

  @Override
  public int poll(MessageHandler handler, int limit) {
    if (limit < 1) {
      owner.checkUsable();
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
      } while (count < limit && !owner.hasEnded() && hasNext());
    } finally {
      polling = false;
    }
    return count;
  }

  private void handOver(MessageHandler handler) {
    Channel channel = inbox.nextChannel();
    int buffer = inbox.nextBuffer();
    int length = inbox.nextLength();
    inbox.advance();
    messages++;
    bytes += length;
    try {
      handler.onMessage(channel.view(), channel.buffers().offset(buffer), length);
    } finally {
      channel.free(buffer);
    }
  }

  private boolean hasNext() {
    return hasReadable() || (queue.poll() && hasReadable());
  }

  /** Whether a message is here; those of connections that were closed meanwhile are dropped. */
  private boolean hasReadable() {
    while (inbox.hasNext()) {
      if (!inbox.nextChannel().isClosed()) {
        return true;
      }
      inbox.advance();
    }
    return false;
  }

  /** Whether there is a message; throws if there will never be one again. */
  @Override
  public boolean isReady() {
    owner.checkUsable();
    if (hasNext()) {
      return true;
    }
    if (!owner.hasEnded()) {
      owner.freeForStarvingPeers();
      return false;
    }
    // the peer may have sent its last message between our look and its end
    queue.drain();
    if (hasReadable()) {
      return true;
    }
    throw owner.end();
  }

  @Override
  public void free(ReceiveRegion message) {
    if (!(message instanceof SendRecvReceiveRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was received from another connection");
    }
    Channel channel = region.takeBack();
    idle[idleCount++] = region;
    held--;
    channel.free(region.number());
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
    return owner.interrupted("receive");
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
