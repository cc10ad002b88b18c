// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.FerruleException;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.spi.SingleThreadedUse;
import dev.ferrule.spi.ViewUse;
import dev.ferrule.spi.Waiter;
import dev.ferrule.verbs.queue.Arrivals;
import dev.ferrule.verbs.queue.Channel;
import dev.ferrule.verbs.queue.ReceiveSource;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a connection, or of all connections of a listener: receives, polls and
 * frees, over {@link Arrivals} that a {@link ReceiveSource} brings.
 */
final class RdmaReceiver implements Receiver, EventCondition {

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

    /** Whether nothing more can come before the program frees some of the messages it holds. */
    boolean isExhausted(int held);

    /** What to do about a program that holds so many. */
    String allHeldHint();
  }

  private static final int REGIONS_AT_ONCE = 32;

  private final Owner owner;
  private final ReceiveSource queue;
  private final Arrivals arrivals;
  private final Waiter waiter;
  private RdmaReceiveRegion[] idle = {}; // a stack: the one used last is the warmest
  private int idleCount;
  private int held;
  private boolean polling;
  private @Nullable Channel entered; // whose messages the handler gets
  private boolean claimed;
  private final SingleThreadedUse use;
  private final Receiver checked;

  RdmaReceiver(Owner owner, ReceiveSource queue, Arrivals arrivals, Waiter waiter) {
    this.use = new SingleThreadedUse(() -> "the receiver of " + owner.uri());
    this.checked = use.check(this);
    this.owner = owner;
    this.queue = queue;
    this.arrivals = arrivals;
    this.waiter = waiter;
  }

  /** Returns this, as the program gets it. */
  Receiver checked() {
    return checked;
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
    checkMine();
    checkNotPolling();
  }

  /** Called when no message is here. */
  private void checkCanWait() {
    if (held > 0 && owner.isExhausted(held)) {
      throw new IllegalStateException(
          "the program holds all the room that there is, with "
              + held
              + " messages; free some before receiving more, or "
              + owner.allHeldHint());
    }
  }

  private void checkMine() {
    if (!claimed) {
      if (!arrivals.claim()) {
        owner.checkUsable();
        throw new IllegalStateException(
            "the messages of this connection go to Listener.receiver(); receive from there");
      }
      claimed = true;
    }
  }

  private void checkNotPolling() {
    if (polling) {
      throw new IllegalStateException("a poll's handler must not receive from the same Receiver");
    }
  }

  private RdmaReceiveRegion take() {
    Channel channel = arrivals.channel();
    if (idleCount == 0) {
      addRegions();
    }
    RdmaReceiveRegion region = idle[--idleCount];
    region.lend(channel, arrivals.number(), arrivals.length());
    arrivals.advance();
    held++;
    return region;
  }

  /** There are never more regions than messages that the program has held at a time. */
  private void addRegions() {
    idle = new RdmaReceiveRegion[idle.length + REGIONS_AT_ONCE];
    for (int i = 0; i < REGIONS_AT_ONCE; i++) {
      idle[idleCount++] = new RdmaReceiveRegion(this);
    }
  }

  @Override
  public int poll(MessageHandler handler, int limit) {
    if (limit < 1) {
      owner.checkUsable();
      throw new IllegalArgumentException("a limit of " + limit + " messages");
    }
    checkMine();
    checkNotPolling();
    if (!isHere()) {
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
      leave();
    }
    return count;
  }

  /**
   * Keeps a connection's memory until the handler is done, see {@link ViewUse}. One mark does for
   * all messages that come from it one after the other.
   */
  private void enter(Channel channel) {
    if (channel != entered) {
      leave();
      channel.viewUse().begin();
      entered = channel;
    }
  }

  private void leave() {
    Channel channel = entered;
    if (channel != null) {
      entered = null;
      channel.viewUse().end();
    }
  }

  private void handOver(MessageHandler handler) {
    Channel channel = arrivals.channel();
    int number = arrivals.number();
    int length = arrivals.length();
    arrivals.advance();
    enter(channel);
    try {
      if (!channel.isClosed()) { // by another thread just now: its memory may be gone
        handler.onMessage(channel.view(), channel.offset(number), length);
      }
    } finally {
      channel.free(number);
    }
  }

  private boolean hasNext() {
    return arrivals.hasNext() || (queue.poll() && arrivals.hasNext());
  }

  /** Whether there is a message to be lent out; throws if there will never be one. */
  @Override
  public boolean isReady() {
    if (isHere()) {
      return true;
    }
    checkCanWait();
    return false;
  }

  /** Whether there is a message; throws if there will never be one again. */
  private boolean isHere() {
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
    if (arrivals.hasNext()) {
      return true;
    }
    throw owner.end();
  }

  @Override
  public void free(ReceiveRegion message) {
    if (!(message instanceof RdmaReceiveRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was received from another connection");
    }
    use.begin();
    try {
      Channel channel = region.giveBack();
      idle[idleCount++] = region;
      held--;
      channel.free(region.number());
    } finally {
      use.end();
    }
  }

  @Override
  public void arm() {
    queue.arm();
  }

  @Override
  public void disarm() {
    queue.disarm();
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

  long sleeps() {
    return waiter.sleeps();
  }
}
