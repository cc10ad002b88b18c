// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.FerruleException;
import dev.ferrule.WaitStrategy;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.ReceiveMultiplexer;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.ReceiveSource;
import dev.ferrule.support.Waiter;
import java.net.URI;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Receives the messages of all connections of a listener, from the common queue of each of its
 * devices.
 */
final class ListenerReceiver implements RdmaReceiver.Owner, ReceiveSource {

  private final RdmaListener listener;
  private final ReceiveGroups groups;
  private final ReceiveMultiplexer multiplexer = new ReceiveMultiplexer(this::wake);
  private final RdmaReceiver receiver;

  /**
   * The queues that {@link #arm} has armed: for the readiness, and then for a call that waits.
   * Guarded by itself.
   */
  private final ArrayDeque<ReceiveQueue[]> armed = new ArrayDeque<>();

  ListenerReceiver(RdmaListener listener, ReceiveGroups groups, WaitStrategy wait) {
    this.listener = listener;
    this.groups = groups;
    this.receiver = new RdmaReceiver(this, this, new Waiter(wait));
  }

  RdmaReceiver receiver() {
    return receiver;
  }

  ReceiveMultiplexer multiplexer() {
    return multiplexer;
  }

  /**
   * Ends receiving when the listener is closed. From then on, the receivers of the connections take
   * their messages.
   */
  void close() {
    multiplexer.end();
    receiver.withdrawRequest();
    receiver.wake();
  }

  void wake() {
    receiver.wake();
  }

  @Override
  public boolean poll() {
    boolean any = false;
    for (ReceiveQueue queue : groups.queues()) {
      any |= queue.poll();
    }
    return any;
  }

  @Override
  public void drain() {
    for (ReceiveQueue queue : groups.queues()) {
      queue.drain();
    }
  }

  @Override
  public void arm() {
    ReceiveQueue[] queues = groups.queues();
    synchronized (armed) {
      armed.addLast(queues);
    }
    for (ReceiveQueue queue : queues) {
      queue.arm();
    }
  }

  /**
   * Disarms the queues that were armed last. They may differ from the current queues, as the
   * listener may have added another device.
   */
  @Override
  public void disarm() {
    ReceiveQueue[] queues;
    synchronized (armed) {
      queues = armed.pollLast();
    }
    if (queues != null) {
      for (ReceiveQueue queue : queues) {
        queue.disarm();
      }
    }
  }

  @Override
  public URI uri() {
    return listener.uri();
  }

  @Override
  public boolean claimMessages() {
    return true; // ownership is claimed in the message queue of each connection
  }

  @Override
  public @Nullable Channel next() {
    return multiplexer.next();
  }

  @Override
  public void checkUsable() {
    if (listener.isClosed()) {
      throw listener.closed();
    }
  }

  @Override
  public boolean isAtEnd() {
    return listener.isClosed();
  }

  @Override
  public FerruleException end() {
    return listener.closed();
  }

  @Override
  public boolean isExhausted(int held) {
    return false; // each connection has its own limit
  }

  @Override
  public String allHeldHint() {
    return ""; // the limit of all connections together is unknown
  }
}
