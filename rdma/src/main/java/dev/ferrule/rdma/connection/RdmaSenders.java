// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.AbstractSenders;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.Waiter;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The senders of a connection, which share its send queue. The first one is open from the start;
 * the program opens the others.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class RdmaSenders extends AbstractSenders<RdmaSender> {

  /** The maximum number of open senders in addition to the first. It bounds their memory. */
  static final int MAX_FURTHER = 63;

  private final RdmaConnection connection;
  private final SendQueue sends;
  private final ReceiveQueue receives;
  private final int maxMessage;
  private final ResolvedOptions options;
  private final @Nullable ReadinessDescriptor room; // of a program that waits for room by readiness
  private final RdmaSender first;
  private volatile RdmaSender[] open; // with the first, if open; written under the lock of this
  private int opened; // in total; under the lock of this

  RdmaSenders(
      RdmaConnection connection,
      SendQueue sends,
      ReceiveQueue receives,
      int peerMaxMessage,
      ResolvedOptions options,
      @Nullable ReadinessDescriptor room) {
    this.connection = connection;
    this.sends = sends;
    this.receives = receives;
    this.maxMessage = (int) Math.min(peerMaxMessage, sends.memory().byteSize());
    this.options = options;
    this.room = room;
    this.first = create("the sender of ", this::remove);
    this.open = new RdmaSender[] {first};
  }

  private RdmaSender create(String name, Consumer<RdmaSender> whenClosed) {
    RdmaSender sender =
        new RdmaSender(
            connection,
            name,
            sends,
            receives,
            maxMessage,
            options.get(RdmaOptions.UNACKED),
            new Waiter(options.get(StandardOptions.WAIT)),
            whenClosed);
    if (room != null) {
      sender.showRoom(room);
    }
    return sender;
  }

  RdmaSender first() {
    return first;
  }

  /** Opens a further sender. */
  Sender open() {
    connection.life().checkOpen();
    opening();
    boolean done = false;
    try {
      RdmaSender sender = add();
      done = true;
      // a close before the line above has not woken this sender
      connection.life().checkOpen();
      return sender.checked();
    } finally {
      if (!done) {
        afterClose();
      }
    }
  }

  /** Ends the messages if the last sender is closed. */
  private void afterClose() {
    if (closedLast() && !connection.life().hasEnded()) {
      sends.controls().sendEnd();
    }
  }

  private synchronized RdmaSender add() {
    RdmaSender[] now = open;
    if (now.length > MAX_FURTHER) {
      throw new ResourceExhaustedException(
          connection.uri(),
          "the limit of " + MAX_FURTHER + " senders beside the first is reached: close one",
          null);
    }
    opened++;
    RdmaSender sender = create("sender " + (opened + 1) + " of ", this::remove);
    RdmaSender[] more = Arrays.copyOf(now, now.length + 1);
    more[now.length] = sender;
    open = more;
    return sender;
  }

  private void remove(RdmaSender sender) {
    synchronized (this) {
      countClosed(sender);
      open = Arrays.stream(open).filter(each -> each != sender).toArray(RdmaSender[]::new);
    }
    afterClose();
  }

  /** Wakes the waiting threads, which check their conditions again. */
  void wake() {
    forEach(RdmaSender::wake);
  }

  /** Withdraws the requests of the readiness, at the end of the connection. */
  void withdrawRequests() {
    forEach(RdmaSender::withdrawRequest);
  }

  /** Waits until no thread is waiting in a sender, or until a timeout. */
  void awaitNoWaiters(long nanos) {
    long start = System.nanoTime();
    for (RdmaSender sender : open) {
      sender.awaitNoWaiters(nanos - (System.nanoTime() - start));
    }
  }

  @Override
  protected void forEach(Consumer<RdmaSender> action) {
    for (RdmaSender sender : open) {
      action.accept(sender);
    }
  }
}
