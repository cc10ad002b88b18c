// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.FerruleException;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.RingConsumer;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.spi.Waiter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half: receives, polls and frees, over a {@link RingConsumer} that knows how
 * messages lie in shared memory.
 */
final class SmReceiver implements Receiver, Waiter.Condition {

  private static final int REGIONS_AT_ONCE = 64;

  /** So many slots are polled before the sender is told. */
  private static final int ACKNOWLEDGE_EVERY = 32;

  private final SmConnection connection;
  private final RingConsumer consumer;
  private final Arena arena;
  private final Waiter waiter;
  private final int maxRegions;

  private SmReceiveRegion[] idle = {}; // a stack: the one used last is the warmest
  private int idleCount;

  private final Taker taker = new Taker();
  private boolean claimed; // by whoever uses this receiver itself
  private boolean polling;
  private boolean inHandler; // or it has thrown
  private int polled; // by the listener's receiver, the last time
  private boolean broken;

  private long messages;
  private long bytes;
  private long acknowledgements;

  SmReceiver(
      SmConnection connection,
      RingConsumer consumer,
      RingLayout layout,
      Arena arena,
      Waiter waiter) {
    this.connection = connection;
    this.consumer = consumer;
    this.arena = arena;
    this.waiter = waiter;
    this.maxRegions = layout.slots();
  }

  SmConnection connection() {
    return connection;
  }

  /** Who takes the messages: this receiver, or that of all of the listener's connections. */
  Taker taker() {
    return taker;
  }

  private void claim() {
    if (!claimed) {
      if (!taker.claimOwn()) {
        connection.checkNotReleased();
        throw new IllegalStateException(
            "the messages of this connection go to Listener.receiver(); receive from there");
      }
      claimed = true;
    }
  }

  /** Whether there may be something to be polled by the listener's receiver. */
  boolean mayHaveNext() {
    try {
      return consumer.mayHaveNext();
    } catch (IllegalStateException e) {
      return false; // closed meanwhile
    } catch (InternalError e) {
      return true; // whoever wants to take it finds out that the peer has truncated its files
    }
  }

  /** The same for being received: the program must not hold all that there is room for. */
  boolean mayTake() {
    return (idleCount > 0 || idle.length < maxRegions) && mayHaveNext();
  }

  /**
   * Takes a message for the listener's receiver, which has {@linkplain Taker#begin begun}.
   *
   * @return the message; null if there is none
   */
  @Nullable SmReceiveRegion takeForListener() {
    if (!hasNextForListener()) {
      return null;
    }
    checkRegions();
    return take();
  }

  /**
   * Hands some messages over for the listener's receiver, which has begun. Throws what the handler
   * throws, or, as compiled code may be told of truncated files late, an InternalError: {@link
   * #isInHandler} tells which.
   */
  void pollForListener(MessageHandler handler, int limit) {
    try {
      while (polled < limit && !connection.isReleased() && hasNextForListener()) {
        polled++;
        handOver(handler);
      }
    } finally {
      acknowledge();
    }
  }

  /** Before a {@link #pollForListener}, which may not come to that. */
  void beginPoll() {
    polled = 0;
    inHandler = false;
  }

  /** How many messages were handed over since {@link #beginPoll}. */
  int polled() {
    return polled;
  }

  /** Whether it has ended in the handler. */
  boolean isInHandler() {
    return inHandler;
  }

  /** What the peer has in its files cannot be read. */
  void breakOff(InternalError e) {
    accessFailed(e);
  }

  /** A connection that fails is no reason for the others' receiver to throw. */
  private boolean hasNextForListener() {
    try {
      return !broken && hasNext();
    } catch (FerruleException e) {
      return false; // it has ended, and tells it by its close callback
    }
  }

  /**
   * Whether what the peer has in its files could not be read or could not be: then no message comes
   * any more. The connection may have ended before, by whatever it was, and tell only that.
   */
  boolean isBroken() {
    return broken;
  }

  /** Asks for a wake-up for the listener's receiver; a barrier has to follow. */
  void armForListener() {
    if (taker.begin()) {
      try {
        consumer.armSleepWithoutBarrier();
      } catch (IllegalStateException | InternalError e) {
        return; // closed meanwhile
      } finally {
        taker.end();
      }
    }
  }

  /**
   * Takes that back, unless the listener was closed meanwhile: then the flag may be that of this
   * receiver, which sleeps by it.
   */
  void disarmForListener() {
    if (taker.begin()) {
      try {
        disarm();
      } finally {
        taker.end();
      }
    }
  }

  @Override
  public @Nullable ReceiveRegion tryReceive() {
    try {
      claim();
      checkRegions();
      return isReady() ? take() : null;
    } catch (InternalError e) {
      throw connection.accessFailed(e); // compiled code may be told late
    }
  }

  @Override
  public ReceiveRegion receive() {
    try {
      claim();
      checkRegions();
      if (!isReady()) {
        waiter.await(this, false, 0);
      }
      return take();
    } catch (InternalError e) {
      throw connection.accessFailed(e); // compiled code may be told late
    }
  }

  @Override
  public ReceiveRegion receive(Duration timeout) {
    try {
      claim();
      checkRegions();
      if (!isReady() && !waiter.await(this, true, Deadlines.after(timeout))) {
        throw new OperationTimeoutException(connection.uri(), "no message came in time", null);
      }
      return take();
    } catch (InternalError e) {
      throw connection.accessFailed(e); // compiled code may be told late
    }
  }

  @Override
  public int poll(MessageHandler handler, int limit) {
    if (limit < 1) {
      connection.checkNotReleased();
      throw new IllegalArgumentException("a limit of " + limit + " messages");
    }
    claim();
    checkNotPolling();
    return isReady() ? handOver(handler, limit) : 0;
  }

  /** Hands over the message that was found, and those behind it. */
  private int handOver(MessageHandler handler, int limit) {
    int count = 0;
    polling = true;
    try {
      do {
        count++;
        handOver(handler);
      } while (count < limit && !connection.isReleased() && hasNext());
    } finally {
      polling = false;
      acknowledge();
    }
    return count;
  }

  /** The message that the handler has is still in the ring, and would be received once more. */
  private void checkNotPolling() {
    if (polling) {
      throw new IllegalStateException("a poll's handler must not receive from the same Receiver");
    }
  }

  private void handOver(MessageHandler handler) {
    int line = consumer.messageLine();
    int length = consumer.messageLength();
    try {
      inHandler = true;
      handler.onMessage(consumer.messageMemory(), consumer.messageOffset(), length);
      inHandler = false;
    } finally {
      messages++;
      bytes += length;
      advance();
      release(line);
      if (consumer.unacknowledged() >= ACKNOWLEDGE_EVERY) {
        acknowledge();
      }
    }
  }

  /** Whether there is a message; throws if there will never be one again. */
  @Override
  public boolean isReady() {
    if (hasNext()) {
      return true;
    }
    if (!connection.hasEnded()) {
      return false;
    }
    // the peer may have sent its last message between our look and its end
    if (hasNext()) {
      return true;
    }
    throw connection.ended();
  }

  private boolean hasNext() {
    connection.checkNotReleased();
    try {
      return consumer.next();
    } catch (IllegalStateException | InternalError | CorruptRingException e) {
      throw accessFailed(e);
    }
  }

  /** Lends out the message that was found. */
  private SmReceiveRegion take() {
    SmReceiveRegion region = idle[--idleCount];
    int length = consumer.messageLength();
    int line = consumer.messageLine();
    long position = consumer.position();
    try {
      if (line == RingProducer.INLINE) {
        region.lendInline(consumer.messageMemory(), consumer.messageOffset(), length);
      } else {
        region.lendLines(consumer.messageMemory(), consumer.messageOffset(), length, line);
      }
      consumer.advance();
    } catch (IllegalStateException | InternalError e) {
      if (consumer.position() == position || !isOfAnother(e)) {
        idleCount++;
        throw accessFailed(e);
      }
    }
    messages++;
    bytes += length;
    acknowledge();
    return region;
  }

  private void checkRegions() {
    checkNotPolling();
    if (idleCount == 0) {
      addRegions();
    }
  }

  private void addRegions() {
    connection.checkNotReleased();
    if (idle.length == maxRegions) {
      throw new IllegalStateException(
          "the program holds all "
              + maxRegions
              + " regions that there are; free some before receiving more, or raise the option"
              + " slots");
    }
    try {
      int count = Math.min(REGIONS_AT_ONCE, maxRegions - idle.length);
      MemorySegment memory = arena.allocate((long) count * InlineMemory.SHORT, RingLayout.LINE);
      MemorySegment view = memory.asReadOnly();
      idle = Arrays.copyOf(idle, idle.length + count);
      for (int i = 0; i < count; i++) {
        InlineMemory inline = new InlineMemory(arena, memory, view, (long) i * InlineMemory.SHORT);
        idle[idleCount++] = new SmReceiveRegion(this, inline);
      }
    } catch (IllegalStateException | InternalError e) {
      throw accessFailed(e);
    }
  }

  @Override
  public void free(ReceiveRegion message) {
    if (!(message instanceof SmReceiveRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was received from another connection");
    }
    region.takeBack();
    idle[idleCount++] = region;
    release(region.line());
  }

  /**
   * Takes the message that the handler had out of its slots; the handler may have closed the
   * connection.
   */
  private void advance() {
    long position = consumer.position();
    try {
      consumer.advance();
    } catch (IllegalStateException | InternalError e) {
      ignoreIfReleased(e);
      if (consumer.position() == position) {
        consumer.advance(); // told too early; the handler has had the message
      }
    }
  }

  /** Gives payload lines back, if there are any. */
  private void release(int line) {
    if (line == RingProducer.INLINE) {
      return;
    }
    try {
      if (consumer.release(line)) {
        connection.wakePeer();
      }
    } catch (IllegalStateException | InternalError e) {
      ignoreIfReleased(e);
    }
  }

  private void acknowledge() {
    if (consumer.unacknowledged() == 0) {
      return; // still in the same slot
    }
    try {
      acknowledgements++;
      if (consumer.acknowledge()) {
        connection.wakePeer();
      }
    } catch (IllegalStateException | InternalError e) {
      ignoreIfReleased(e);
    }
  }

  /** Returns what to throw, or throws what the listener's receiver has to judge. */
  private RuntimeException accessFailed(Throwable e) {
    if (isOfAnother(e)) {
      throw (InternalError) e;
    }
    RuntimeException failure = connection.accessFailed(e);
    broken |= !connection.isReleased();
    return failure;
  }

  /**
   * Whether it is the files of another of the listener's connections that were truncated, of which
   * compiled code is told late, when it is busy with this one.
   */
  private boolean isOfAnother(Throwable e) {
    return !claimed
        && e instanceof InternalError
        && !connection.isReleased()
        && connection.areFilesThere();
  }

  /**
   * What is given back to a sender that is gone matters to nobody; nor does it stop the listener's
   * receiver that one sender's files are gone, as the others' are not.
   */
  private void ignoreIfReleased(Throwable e) {
    if (isOfAnother(e)) {
      return;
    }
    RuntimeException failure = accessFailed(e);
    if (claimed && !connection.isReleased()) {
      throw failure;
    }
  }

  @Override
  public void arm() {
    try {
      consumer.armSleep();
    } catch (IllegalStateException | InternalError e) {
      throw accessFailed(e);
    }
  }

  @Override
  public boolean isArmed() {
    try {
      return consumer.isSleepArmed();
    } catch (IllegalStateException | InternalError e) {
      throw accessFailed(e);
    }
  }

  /** The same for the listener's receiver, which does not mind a connection that was closed. */
  boolean isStillArmed() {
    try {
      return consumer.isSleepArmed();
    } catch (IllegalStateException | InternalError e) {
      return true;
    }
  }

  @Override
  public void disarm() {
    try {
      consumer.disarmSleep();
    } catch (IllegalStateException | InternalError e) {
      return; // closed meanwhile; nobody looks at the flag any more
    }
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

  long acknowledgements() {
    return acknowledgements;
  }

  long sleeps() {
    return waiter.sleeps();
  }
}
