// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.posix.Membarrier;
import dev.ferrule.rdma.context.Cleanup;
import dev.ferrule.rdma.context.LastWqeTimeout;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.Lifecycle;
import dev.ferrule.support.Threads;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Closes a connection: waits for its threads, flushes its messages, sends a goodbye to the peer,
 * and releases the resources.
 */
final class ConnectionCloser {

  /** The time that closing waits for threads to leave blocking calls: far longer than they need. */
  static final long TIMEOUT_NANOS = 1_000_000_000L;

  /**
   * The time that closing waits for a device to release a connection whose peer does not answer.
   */
  private static final long CLEANUP_NANOS = 100_000_000;

  private static final long FLUSH_PAUSE_NANOS = 20_000;

  private final RdmaConnection connection;
  private final RdmaConnectionResources resources;
  private final ConnectionEvents events;
  private final Lifecycle life;
  private final Channel channel;
  private final ReceiveQueue receives;
  private volatile long abortedAt = System.nanoTime(); // the time of the failure, if there was one

  ConnectionCloser(
      RdmaConnection connection, RdmaConnectionResources resources, ConnectionEvents events) {
    this.connection = connection;
    this.resources = resources;
    this.events = events;
    this.life = connection.life();
    this.channel = connection.channel();
    this.receives = resources.receiveQueue();
  }

  /**
   * Moves the queue pair to the error state after a failure: the peer must stop sending, especially
   * into shared receive buffers.
   */
  void abort() {
    abortedAt = System.nanoTime();
    channel.sends().abort();
  }

  /**
   * Closes the connection, once. Blocks until the threads have left, messages are flushed, and
   * resources are released.
   */
  void close(Duration timeout) {
    // the state changes first, so every thread that returns from close sees it
    Lifecycle.Closing closing = life.close();
    if (closing == Lifecycle.Closing.AGAIN) {
      return;
    }
    connection.release();
    connection.wake();
    // threads leave their blocking calls before the queues are destroyed
    connection.awaitNoWaiters(TIMEOUT_NANOS);
    boolean peerAnswers =
        closing == Lifecycle.Closing.OF_OPEN
            ? flush(Deadlines.after(timeout))
            : life.failure() == null;
    giveUp(peerAnswers);
  }

  /** Releases a connection that was not completed. Does not wait for the peer. */
  void abandon(String reason) {
    life.lost(reason);
    if (life.close() != Lifecycle.Closing.AGAIN) {
      life.release();
      connection.wake();
      giveUp(false);
    }
  }

  /**
   * Waits until the peer's device has acknowledged all messages, and sends a goodbye.
   *
   * @return whether the peer's device has acknowledged everything
   */
  private boolean flush(long deadline) {
    awaitDrained(deadline);
    if (channel.sends().controls().sayGoodbye()) {
      awaitDrained(Math.max(deadline, System.nanoTime() + TIMEOUT_NANOS / 2));
    }
    return events.isPeerGone() || channel.sends().isDelivered();
  }

  private void awaitDrained(long deadline) {
    while (!events.isPeerGone()
        && !channel.sends().isDrained()
        && deadline - System.nanoTime() > 0) {
      receives.poll(); // the peer may be closing as well
      Threads.pause(FLUSH_PAUSE_NANOS);
    }
  }

  /**
   * Releases the resources of the connection.
   *
   * @param peerAnswers whether the peer has acknowledged all work requests. Otherwise the device
   *     may take seconds to destroy the queue pair, and this method waits only until the
   *     registrations of the program's memory have ended: the program may reuse that memory as soon
   *     as the connection is closed.
   */
  private void giveUp(boolean peerAnswers) {
    Cleanup.close(
        connection::stop,
        channel.sends()::close,
        this::stopQueuePair,
        () -> receives.remove(channel));
    AutoCloseable programs =
        () -> Cleanup.close(channel::closeReceives, connection::closeProgramMemory);
    AutoCloseable devices =
        () ->
            Cleanup.close(
                resources::destroyQueuePair,
                resources::unwatch,
                resources.isReceiveQueueCommon() ? null : receives);
    Thread closer = Thread.currentThread();
    BooleanSupplier isSeen = () -> isReadByAnother(closer);
    if (peerAnswers) {
      Cleanup.close(devices, programs);
      resources.close(isSeen);
    } else {
      Cleanup.close(programs);
      Cleanup.closeAside(
          resources.rdmaContext().isCurrentThread() ? 0 : CLEANUP_NANOS,
          devices,
          () -> resources.close(isSeen));
    }
  }

  /** Returns whether a handler of another thread is processing a message of the connection. */
  private boolean isReadByAnother(Thread closer) {
    if (Membarrier.REGISTERED_PRIVATE) { // else each poll begins with a barrier
      // either this thread sees a poll that has begun, or the poll sees the closed state
      Membarrier.inProcess();
    }
    return channel.viewUse().isByAnother(closer);
  }

  /**
   * Stops receiving. A queue pair of a shared receive queue may have taken a receive that has not
   * completed. Its buffer is lost unless this method waits for the completion. After a goodbye of
   * the peer, no such receive exists.
   */
  private void stopQueuePair() {
    receives.drain();
    boolean mayHoldOne = resources.isReceivingFromShared() && !channel.isGoodbyeSaid();
    resources.stopQueuePair();
    if (!mayHoldOne || resources.rdmaContext().isCurrentThread()) {
      return;
    }
    LastWqeTimeout timeout = resources.device().lastWqeTimeout();
    long since = life.failure() == null ? System.nanoTime() : abortedAt;
    long end = since + timeout.nanos();
    while (!events.isLastRequestReached() && end - System.nanoTime() > 0) {
      receives.poll();
      Threads.pause(FLUSH_PAUSE_NANOS);
    }
    if (resources.isWatched()) {
      timeout.waited(events.isLastRequestReached());
    }
  }
}
