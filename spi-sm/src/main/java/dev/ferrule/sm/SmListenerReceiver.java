// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.FerruleException;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.StandardOptions;
import dev.ferrule.sm.ring.ReceiverSleep;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.Waiter;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Receives for all connections of a listener: polls their rings round-robin, from where it stopped
 * the last time. A connection that ends is removed when its last message was received; its close
 * callback reports the end.
 *
 * <p>One thread at a time receives; any thread adds connections, and ends it.
 */
final class SmListenerReceiver implements Receiver, Waiter.Condition {

  /** Maximum number of messages polled from a connection before the next one is polled. */
  private static final int TURN = 8; // as many as make a stream, see RecordReader

  private final SmListener listener;
  private final Waiter waiter;
  private final StreamPauses pauses;
  private volatile SmConnection[] connections = {}; // replaced under this monitor, never modified
  private int next; // the connection to poll next
  private int polled;
  private boolean polling;
  private volatile boolean ended;

  /** The connections to add when it begins to receive. */
  private final Set<SmConnection> accepted = new LinkedHashSet<>();

  private boolean begun;
  private volatile ReadinessDescriptor.@Nullable Source readiness; // of a program that uses it

  SmListenerReceiver(SmListener listener, ResolvedOptions options, long secondCheckNanos) {
    this.listener = listener;
    this.waiter = new Waiter(options.get(StandardOptions.WAIT), secondCheckNanos);
    this.pauses = new StreamPauses(options.get(SmOptions.RING));
  }

  /**
   * Begins to receive, unless it has: from the connections that were accepted, and from later ones.
   *
   * @param descriptor shows messages to a program that uses readiness
   */
  synchronized void begin(@Nullable ReadinessDescriptor descriptor) {
    if (!begun) {
      begun = true;
      if (descriptor != null) {
        readiness = descriptor.source(this::arm, this::mayHaveSomething);
      }
      accepted.forEach(this::add);
      accepted.clear();
    }
  }

  private boolean mayHaveSomething() {
    for (SmConnection connection : connections) {
      if (connection.hasEnded() || connection.ownReceiver().mayHaveNext()) {
        return true; // or is to be removed
      }
    }
    return false;
  }

  /** Registers a connection that is about to be returned. */
  synchronized void accepted(SmConnection connection) {
    connection.onRelease(() -> remove(connection));
    if (begun) {
      add(connection);
    } else {
      accepted.add(connection); // even after the peer has closed it: it may have messages
    }
  }

  /** Adds a connection, unless its own receiver was used before. */
  private synchronized void add(SmConnection connection) {
    if (ended || !connection.ownReceiver().ownership().claimCommon()) {
      return;
    }
    SmConnection[] longer = Arrays.copyOf(connections, connections.length + 1);
    longer[connections.length] = connection;
    connections = longer;
    connection.setCommonReceiver(this);
    wake(); // to poll it, too
  }

  /** Removes a connection that has ended and has no more messages, or is closed. */
  synchronized void remove(SmConnection connection) {
    accepted.remove(connection);
    connections =
        Arrays.stream(connections).filter(each -> each != connection).toArray(SmConnection[]::new);
  }

  /**
   * Ends receiving because the listener is closed: later messages go to the connections' receivers.
   */
  void end() {
    synchronized (this) {
      ended = true;
      for (SmConnection connection : connections) {
        connection.ownReceiver().ownership().endCommon();
      }
      connections = new SmConnection[0];
    }
    wake();
  }

  private void check() {
    checkNotEnded();
    if (polling) {
      throw new IllegalStateException("a poll's handler must not receive from the same Receiver");
    }
  }

  private void checkNotEnded() {
    if (ended) {
      throw new ConnectionClosedException(listener.uri(), false, "the listener was closed", null);
    }
  }

  @Override
  public @Nullable ReceiveRegion tryReceive() {
    check();
    ReceiveRegion message = take();
    pauses.polled(message == null ? 0 : 1, 1);
    if (message == null) {
      ReadinessDescriptor.foundNothing(readiness);
    }
    return message;
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
    check();
    long deadline = timeout == null ? Deadlines.NEVER : Deadlines.after(timeout);
    while (true) {
      ReceiveRegion message = take();
      if (message != null) {
        pauses.received();
        return message;
      }
      if (timeout == null || timeout.isPositive()) {
        beforeSleep();
      }
      if (!waiter.await(this, deadline)) {
        ReadinessDescriptor.foundNothing(readiness);
        throw new OperationTimeoutException(
            listener.uri(), "receive timed out: no message arrived" + ofHeldRegions(), null);
      }
    }
  }

  private void beforeSleep() {
    pauses.caughtUp();
    ReadinessDescriptor.raise(readiness); // a sleep consumes the requests for wake-ups
  }

  private String ofHeldRegions() {
    return Arrays.stream(connections).anyMatch(each -> each.ownReceiver().holdsAll())
        ? "; this program holds all regions of a connection, which can receive no more: free some"
        : "";
  }

  /** Returns the next message of a connection that has one; null if none has. */
  private @Nullable ReceiveRegion take() {
    SmConnection[] all = connections;
    for (int i = 0; i < all.length; i++) {
      SmConnection connection = all[advance(all.length)];
      ReceiveRegion message = take(connection, connection.ownReceiver());
      if (message != null) {
        return message;
      }
    }
    return null;
  }

  private @Nullable ReceiveRegion take(SmConnection connection, SmReceiver receiver) {
    boolean mayBeOver = connection.hasEnded();
    if (receiver.mayTake() && receiver.ownership().begin()) {
      try {
        ReceiveRegion message = receiver.takeForListener();
        if (message == null) {
          removeIfBroken(connection);
        }
        return message;
      } catch (FerruleException e) {
        remove(connection); // it was closed concurrently
      } finally {
        receiver.ownership().end();
      }
    } else if (mayBeOver && (connection.isReleased() || !receiver.mayHaveNext())) {
      remove(connection);
    }
    return null;
  }

  /** Removes a connection after a protocol violation: the rest of its ring contains no messages. */
  private void removeIfBroken(SmConnection connection) {
    if (connection.ownReceiver().isBroken() || connection.failure() instanceof ProtocolException) {
      remove(connection);
    }
  }

  private int advance(int count) {
    next = next + 1 < count ? next + 1 : 0;
    return next;
  }

  @Override
  public int poll(MessageHandler handler, int limit) {
    checkNotEnded();
    if (limit < 1) {
      throw new IllegalArgumentException("invalid limit: " + limit + " messages; the minimum is 1");
    }
    check();
    polled = 0;
    polling = true;
    try {
      int before;
      do { // until no connection has any more, or there are enough
        before = polled;
        pollAll(handler, limit);
      } while (polled < limit && polled > before && !ended);
    } finally {
      polling = false;
    }
    if (polled == 0) {
      ReadinessDescriptor.foundNothing(readiness);
    }
    pauses.polled(polled, limit);
    return polled;
  }

  @Override
  public int poll(MessageHandler handler, int limit, Duration timeout) {
    Objects.requireNonNull(timeout);
    int count = poll(handler, limit);
    if (count > 0 || !timeout.isPositive()) {
      return count;
    }
    long deadline = Deadlines.after(timeout);
    beforeSleep();
    while (count == 0 && waiter.await(this, deadline)) { // or a connection was removed
      count = poll(handler, limit);
    }
    if (count == 0) {
      ReadinessDescriptor.foundNothing(readiness);
    }
    return count;
  }

  @Override
  public void idle() {
    pauses.idle();
  }

  /** Polls each connection once. */
  private void pollAll(MessageHandler handler, int limit) {
    SmConnection[] all = connections;
    for (int i = 0; i < all.length && polled < limit && !ended; i++) {
      SmConnection connection = all[advance(all.length)];
      SmReceiver receiver = connection.ownReceiver();
      receiver.beginPoll();
      try {
        poll(connection, receiver, handler, Math.min(TURN, limit - polled));
      } finally {
        polled += receiver.polled();
      }
    }
  }

  private void poll(
      SmConnection connection, SmReceiver receiver, MessageHandler handler, int limit) {
    boolean mayBeOver = connection.hasEnded();
    if (receiver.mayHaveNext() && receiver.ownership().begin()) {
      try {
        receiver.pollForListener(handler, limit);
      } finally {
        removeIfBroken(connection);
        receiver.ownership().end();
      }
    } else if (mayBeOver && (connection.isReleased() || !receiver.mayHaveNext())) {
      remove(connection);
    }
  }

  @Override
  public void free(ReceiveRegion message) {
    if (!(message instanceof SmReceiveRegion region) || !region.isReceivedBy(this)) {
      throw new IllegalArgumentException("the region was received from another connection");
    }
    region.close();
  }

  @Override
  public boolean isReady() {
    checkNotEnded();
    for (SmConnection connection : connections) {
      SmReceiver receiver = connection.ownReceiver();
      if (receiver.mayTake() || (connection.hasEnded() && !receiver.mayHaveNext())) {
        return true; // or is to be removed
      }
    }
    return false;
  }

  @Override
  public void arm() {
    for (SmConnection connection : connections) {
      connection.ownReceiver().armForListener();
    }
    ReceiverSleep.barrier();
  }

  @Override
  public boolean isArmed() {
    for (SmConnection connection : connections) {
      if (!connection.ownReceiver().isArmed()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void disarm() {
    for (SmConnection connection : connections) {
      connection.ownReceiver().disarmForListener();
    }
  }

  @Override
  public RuntimeException interrupted() {
    return new OperationInterruptedException(
        listener.uri(), "interrupted while waiting to receive", null);
  }

  void wake() {
    waiter.wake();
    ReadinessDescriptor.raise(readiness);
  }

  @Override
  public String toString() {
    return "receiver of " + listener.uri();
  }
}
