// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.FerruleException;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.ring.ReceiverSleep;
import dev.ferrule.sm.ring.RingConsumer;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.ViewUse;
import dev.ferrule.support.Waiter;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a connection: receives, polls and frees messages. It has a {@link
 * RingConsumer} for each of the peer's senders, which handles the layout of messages in shared
 * memory, and serves them in turn.
 */
final class SmReceiver implements Receiver {

  private final SmConnection connection;
  private final ReceivedRings rings;
  private final ReceiverSleep sleep;
  private final StreamPauses pauses;
  private final Waiter waiter;
  private final Waiter.Condition message;
  private final ReceiveRegions regions;
  private final boolean fences;

  private final ReceiverOwnership ownership = new ReceiverOwnership();
  private RingConsumer found; // the one that has found a message
  private boolean claimed; // by a program that uses this receiver itself; not after the end
  private boolean atEnd; // of the stream: no message may follow
  private final ViewUse viewUse = new ViewUse();
  private boolean broken;
  private ReadinessDescriptor.@Nullable Source readiness; // of a program that uses it

  SmReceiver(SmConnection connection, ReceivedRings rings, Waiter waiter) {
    this.connection = connection;
    this.rings = rings;
    this.sleep = rings.sleep();
    this.found = rings.first();
    this.waiter = waiter;
    this.message = new MessageCondition(this, sleep);
    this.regions = new ReceiveRegions(this, rings.maxRegions());
    this.pauses = new StreamPauses(rings.ringBytes());
    this.fences = sleep.fences();
  }

  /** Shows messages to a program that uses readiness; called once, at first. */
  void showMessages(ReadinessDescriptor descriptor) {
    readiness = descriptor.source(() -> sleep.arm(false), this::isReady);
  }

  SmConnection connection() {
    return connection;
  }

  /** Returns the ownership of the messages, by this receiver or by the listener's common one. */
  ReceiverOwnership ownership() {
    return ownership;
  }

  private void claim() {
    if (!claimed) {
      if (!ownership.claimOwn()) {
        connection.checkNotReleased();
        throw new IllegalStateException(
            "the messages of this connection go to Listener.receiver(); receive from there");
      }
      if (atEnd) {
        throw afterEnd();
      }
      claimed = true;
    }
  }

  /** Returns whether the listener's receiver may have something to poll. */
  boolean mayHaveNext() {
    boolean result = !connection.isReleased() && rings.mayHaveNext();
    Reference.reachabilityFence(this);
    return result;
  }

  /**
   * Returns whether the listener's receiver may have something to receive: the program must not
   * already hold the maximum number of regions.
   */
  boolean mayTake() {
    return !regions.areAllHeld() && mayHaveNext();
  }

  /** Returns whether the program holds the maximum number of regions. */
  boolean holdsAll() {
    return regions.areAllHeld();
  }

  /**
   * Receives a message for the listener's receiver, which has {@linkplain ReceiverOwnership#begin
   * begun}.
   *
   * @return the message; null if there is none
   */
  @Nullable SmReceiveRegion takeForListener() {
    connection.receiving().begin();
    try {
      if (!hasNextForListener()) {
        return null;
      }
      checkRegions();
      return take();
    } finally {
      connection.receiving().end();
    }
  }

  /** Passes some messages to a handler of the listener's receiver, which has begun. */
  void pollForListener(MessageHandler handler, int limit) {
    connection.receiving().begin();
    beginPolling();
    try {
      rings.poll(handler, limit);
    } catch (CorruptRingException e) {
      failCorrupt(e); // no reason for the receiver of other connections to throw
    } finally {
      endPolling();
      connection.receiving().end();
    }
  }

  /** Called before a {@link #pollForListener} that may not take place. */
  void beginPoll() {
    rings.beginPoll();
  }

  /** Returns how many messages were passed since {@link #beginPoll}. */
  int polled() {
    return rings.polled();
  }

  /**
   * Does not throw: a connection that fails is no reason for the receiver of other connections to
   * throw.
   */
  private boolean hasNextForListener() {
    try {
      return hasNext();
    } catch (FerruleException e) {
      return false; // it has ended, which its close callback reports
    }
  }

  /**
   * Returns whether the contents of the ring are invalid, so that no more messages follow. The
   * connection may have ended before, for another reason.
   */
  boolean isBroken() {
    return broken;
  }

  /** Requests a wake-up for the listener's receiver; a barrier must follow. */
  void armForListener() {
    if (ownership.begin()) {
      sleep.armWithoutBarrier();
      ownership.end();
    }
    Reference.reachabilityFence(this);
  }

  /**
   * Revokes {@link #armForListener}, unless the listener was closed since then: this receiver may
   * already sleep on the flag.
   */
  void disarmForListener() {
    if (ownership.begin()) {
      message.disarm();
      ownership.end();
    }
  }

  /** Returns whether a requested wake-up is pending. */
  boolean isArmed() {
    return message.isArmed();
  }

  @Override
  public @Nullable ReceiveRegion tryReceive() {
    try {
      claim();
      checkRegions();
      boolean found = isReady();
      pauses.polled(found ? 1 : 0, 1);
      if (found) {
        return take();
      }
      ReadinessDescriptor.foundNothing(readiness);
      return null;
    } catch (InternalError e) {
      throw connection.failOwnFile(e); // from a send; compiled code throws it late
    }
  }

  @Override
  public ReceiveRegion receive() {
    return receiveWithin(null);
  }

  @Override
  public ReceiveRegion receive(Duration timeout) {
    return receiveWithin(Objects.requireNonNull(timeout));
  }

  private ReceiveRegion receiveWithin(@Nullable Duration timeout) {
    try {
      claim();
      checkRegions();
      if (!isReady() && !await(timeout)) {
        ReadinessDescriptor.foundNothing(readiness);
        throw new OperationTimeoutException(
            connection.uri(), "receive timed out: no message arrived", null);
      }
      pauses.received();
      return take();
    } catch (InternalError e) {
      throw connection.failOwnFile(e); // from a send; compiled code throws it late
    }
  }

  @Override
  public int poll(MessageHandler handler, int limit) {
    if (limit < 1) {
      connection.checkNotReleased();
      throw new IllegalArgumentException("invalid limit: " + limit + " messages; the minimum is 1");
    }
    claim();
    checkNotPolling();
    beginPolling();
    rings.beginPoll();
    try {
      rings.poll(handler, limit);
      if (rings.polled() == 0) {
        foundNothing(handler, limit);
      }
      pauses.polled(rings.polled(), limit);
      return rings.polled();
    } catch (CorruptRingException e) {
      throw failCorrupt(e);
    } finally {
      endPolling();
    }
  }

  @Override
  public int poll(MessageHandler handler, int limit, Duration timeout) {
    Objects.requireNonNull(timeout);
    int count = poll(handler, limit);
    if (count > 0 || !timeout.isPositive()) {
      return count;
    }
    if (await(timeout)) {
      return poll(handler, limit);
    }
    ReadinessDescriptor.foundNothing(readiness);
    return 0;
  }

  @Override
  public void idle() {
    pauses.idle();
  }

  private void foundNothing(MessageHandler handler, int limit) {
    connection.checkNotReleased();
    boolean ended = rings.isEnded();
    if (ended || connection.hasEnded()) {
      // the peer may have sent its last message between the check and its end
      rings.poll(handler, limit);
      if (rings.polled() == 0) {
        throw reachedEnd(ended);
      }
    }
    ReadinessDescriptor.foundNothing(readiness);
  }

  private boolean await(@Nullable Duration timeout) {
    if (timeout == null || timeout.isPositive()) {
      pauses.caughtUp();
      ReadinessDescriptor.raise(readiness); // a sleep consumes the request for a wake-up
    }
    return waiter.await(message, timeout == null ? Deadlines.NEVER : Deadlines.after(timeout));
  }

  /**
   * Marks the start of a poll, whose handler may use the memory. The caller then checks that the
   * connection is not released. The thread that releases the connection checks the mark after that,
   * see {@link #isPolledByAnother}.
   */
  private void beginPolling() {
    if (fences) {
      viewUse.begin();
    } else {
      viewUse.beginWithoutBarrier();
    }
  }

  private void endPolling() {
    viewUse.end();
    if (fences) {
      VarHandle.fullFence();
    } else {
      VarHandle.releaseFence(); // for the compiler: the closing thread runs a barrier in this one
    }
    if (connection.isReleased()) {
      // the closing thread may have seen the mark, and left it to this one to retire the memory
      VarHandle.fullFence();
      connection.retireIfClosed();
    }
    Reference.reachabilityFence(this);
  }

  /**
   * Returns whether a thread other than the closing one is in a poll, whose handler may use the
   * memory. Must be called after a barrier of all threads that follows the release of the
   * connection: from then on, no poll begins.
   */
  boolean isPolledByAnother(Thread closer) {
    return viewUse.isByAnother(closer);
  }

  /** Throws in a handler: its message is still in the ring, and would be received again. */
  private void checkNotPolling() {
    if (viewUse.isInUse()) {
      throw new IllegalStateException("a poll's handler must not receive from the same Receiver");
    }
  }

  /** Returns whether there is a message; throws if no further one can arrive. */
  boolean isReady() {
    if (hasNext()) {
      return true;
    }
    boolean ended = isEnded();
    if (!ended && !connection.hasEnded()) {
      return false;
    }
    // the peer may have sent its last message between the check and its end
    if (hasNext()) {
      return true;
    }
    throw reachedEnd(ended);
  }

  private boolean isEnded() {
    try {
      return rings.isEnded();
    } catch (CorruptRingException e) {
      throw failCorrupt(e);
    }
  }

  /** Returns the exception for receiving when all messages were received. */
  private FerruleException reachedEnd(boolean ended) {
    if (ended) {
      atEnd = true;
      claimed = false; // so that each later call is checked, and no other one
    }
    return connection.endOfStream(ended);
  }

  /** Returns the exception for receiving after the end, at which all messages were received. */
  private FerruleException afterEnd() {
    if (hasNext()) {
      return failCorrupt(
          new CorruptRingException("the sender has published a message after its last one"));
    }
    if (!isEnded()) {
      connection.checkNotReleased(); // otherwise the memory may be zeros
      return failCorrupt(
          new CorruptRingException("the sender has withdrawn the mark of its last message"));
    }
    return connection.endOfStream(true);
  }

  private boolean hasNext() {
    connection.checkNotReleased();
    try {
      RingConsumer ring = rings.find();
      if (ring != null) {
        found = ring;
      }
      return ring != null;
    } catch (CorruptRingException e) {
      throw failCorrupt(e);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private FerruleException failCorrupt(CorruptRingException e) {
    broken = true;
    return connection.failCorrupt(e);
  }

  /** Passes the found message to the program. */
  private SmReceiveRegion take() {
    SmReceiveRegion region = regions.next();
    RingConsumer ring = found;
    region.lend(ring);
    VarHandle.loadLoadFence();
    connection.checkNotReleased(); // otherwise the copied bytes may be the zeros of retired memory
    regions.taken();
    ring.advance();
    sleep.received(1);
    rings.acknowledge(ring);
    return region;
  }

  private void checkRegions() {
    checkNotPolling();
    regions.check();
  }

  @Override
  public void free(ReceiveRegion message) {
    if (!(message instanceof SmReceiveRegion region) || !region.belongsTo(this)) {
      throw new IllegalArgumentException("the region was received from another connection");
    }
    connection.receiving().begin();
    try {
      region.takeBack();
      regions.putBack(region);
      if (region.release()) {
        connection.wakePeer();
      }
      Reference.reachabilityFence(this);
    } finally {
      connection.receiving().end();
    }
  }

  void wake() {
    waiter.wake();
    // even if the request seems pending: the peer may clear it after the wake-up
    ReadinessDescriptor.raise(readiness);
  }

  long sleeps() {
    return waiter.sleeps();
  }

  @Override
  public String toString() {
    return "receiver of " + connection.uri();
  }
}
