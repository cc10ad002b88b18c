// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sendrecv.queue.Inbox;
import dev.ferrule.sendrecv.queue.ReceiveQueue;
import dev.ferrule.sendrecv.queue.ReceiveSource;
import dev.ferrule.spi.Waiter;
import java.net.URI;

/** Receives for all connections of a listener, from the common queue of each of its devices. */
final class ListenerReceiver implements SendRecvReceiver.Owner, ReceiveSource {

  /** More than all messages that can have come and not be taken. */
  private static final int CAPACITY = 65_536;

  private final SendRecvListener listener;
  private final Inbox inbox = new Inbox(CAPACITY);
  private final SendRecvReceiver receiver;

  ListenerReceiver(SendRecvListener listener, WaitStrategy wait) {
    this.listener = listener;
    this.receiver = new SendRecvReceiver(this, this, inbox, new Waiter(wait));
  }

  SendRecvReceiver receiver() {
    return receiver;
  }

  Inbox inbox() {
    return inbox;
  }

  void wake() {
    receiver.wake();
  }

  @Override
  public boolean poll() {
    boolean any = false;
    for (ReceiveGroup group : listener.groups()) {
      ReceiveQueue queue = group.queue();
      any |= queue != null && queue.poll();
    }
    return any;
  }

  @Override
  public void drain() {
    for (ReceiveGroup group : listener.groups()) {
      ReceiveQueue queue = group.queue();
      if (queue != null) {
        queue.drain();
      }
    }
  }

  @Override
  public void arm() {
    for (ReceiveGroup group : listener.groups()) {
      ReceiveQueue queue = group.queue();
      if (queue != null) {
        queue.arm();
      }
    }
  }

  @Override
  public URI uri() {
    return listener.uri();
  }

  @Override
  public void checkUsable() {
    if (listener.isClosed()) {
      throw end();
    }
  }

  @Override
  public boolean hasEnded() {
    return listener.isClosed();
  }

  @Override
  public FerruleException end() {
    return new ConnectionClosedException(uri(), false, "the listener was closed", null);
  }

  @Override
  public FerruleException interrupted(String doing) {
    return new OperationInterruptedException(uri(), "interrupted while waiting to " + doing, null);
  }

  @Override
  public void freeForStarvingPeers() {
    listener.groups().forEach(ReceiveGroup::freeForStarvingPeers);
  }

  @Override
  public int capacity() {
    return 0; // that depends on the connections
  }
}
