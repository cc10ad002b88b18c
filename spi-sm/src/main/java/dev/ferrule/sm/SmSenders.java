// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Sender;
import dev.ferrule.WaitStrategy;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.support.AbstractSenders;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.SingleThreadedUse;
import dev.ferrule.support.Waiter;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The senders of a connection: the first, which is always there, and those that its program opens,
 * each with a lane of its own: a ring and payload lines in the peer's memory.
 *
 * <p><b>Threads:</b> any thread may call.
 */
final class SmSenders extends AbstractSenders<SmSender> {

  private final SmConnection connection;
  private final SharedRing peer;
  private final boolean fences;
  private final WaitStrategy wait;
  private final @Nullable ReadinessDescriptor room; // of a program that waits for room by readiness
  private final SmSender first;

  private final Lanes lanes;

  /** By lane; null before its first use. Only the lane's owner uses it. */
  private final @Nullable RingProducer[] producers;

  /** By lane; null without an owner. */
  private final AtomicReferenceArray<@Nullable SmSender> senders;

  SmSenders(
      SmConnection connection,
      SharedRing peer,
      boolean fences,
      WaitStrategy wait,
      @Nullable ReadinessDescriptor room) {
    this.connection = connection;
    this.peer = peer;
    this.fences = fences;
    this.wait = wait;
    this.room = room;
    this.lanes = new Lanes(peer.lanes());
    this.producers = new @Nullable RingProducer[peer.lanes()];
    this.senders = new AtomicReferenceArray<>(peer.lanes());
    RingProducer producer =
        new RingProducer(peer.layout(), peer.ring(), peer.buffer(), peer.ring(), fences);
    this.first = sender(producer, "the sender of ", this::afterClose);
  }

  private SmSender sender(RingProducer producer, String name, Runnable whenClosed) {
    SmSender sender =
        new SmSender(
            connection,
            new SingleThreadedUse(() -> name + connection.uri()),
            producer,
            peer.layout(),
            new Waiter(wait, SmConnection.SECOND_CHECK_NANOS),
            whenClosed);
    if (room != null) {
      sender.showRoom(room);
    }
    return sender;
  }

  SmSender first() {
    return first;
  }

  /** Opens a sender with a lane of its own. */
  Sender open() {
    connection.checkOpen();
    opening();
    int lane = Lanes.NONE;
    boolean done = false;
    try {
      lane = takeLane();
      int own = lane;
      SmSender sender =
          sender(producer(lane), "sender " + (lane + 2) + " of ", () -> giveBack(own));
      senders.set(lane, sender);
      connection.checkOpen(); // otherwise it may have been closed without waking this sender
      done = true;
      return sender.checked();
    } finally {
      if (!done) {
        if (lane != Lanes.NONE) {
          senders.set(lane, null);
          lanes.giveBack(lane);
        }
        afterClose();
      }
    }
  }

  /** Ends the messages if the last sender is closed. */
  private void afterClose() {
    if (closedLast() && !connection.hasEnded()) {
      first.markEnded();
    }
  }

  private int takeLane() {
    int lane = lanes.take();
    if (lane == Lanes.NONE) {
      throw new ResourceExhaustedException(
          connection.uri(),
          "the limit of "
              + peer.lanes()
              + " senders beside the first is reached: close one, or raise the peer's option"
              + " lanes",
          null);
    }
    return lane;
  }

  private RingProducer producer(int lane) {
    RingProducer producer = producers[lane];
    if (producer == null) {
      try {
        peer.allocateLane(lane);
      } catch (PosixException e) {
        throw Failures.of(connection.uri(), e);
      }
      producer =
          new RingProducer(
              peer.layout(), peer.laneRing(lane), peer.laneBuffer(lane), peer.ring(), fences);
      producer.markUsed(lane);
      producers[lane] = producer;
    }
    return producer;
  }

  /** Takes a lane back from its sender, which is closed and has nothing staged or claimed. */
  private void giveBack(int lane) {
    synchronized (this) {
      SmSender sender = senders.getAndSet(lane, null);
      if (sender != null) {
        countClosed(sender);
      }
    }
    lanes.giveBack(lane);
    afterClose();
  }

  @Override
  protected void forEach(Consumer<SmSender> action) {
    action.accept(first);
    for (int lane = 0; lane < senders.length(); lane++) {
      SmSender sender = senders.get(lane);
      if (sender != null) {
        action.accept(sender);
      }
    }
  }

  /** Returns the part of the fullest ring that the peer has not consumed. */
  double fill() {
    double[] fullest = {0};
    forEach(sender -> fullest[0] = Math.max(fullest[0], sender.fill()));
    return fullest[0];
  }

  /** Wakes the threads that wait for room, which check again. */
  void wake() {
    forEach(SmSender::wake);
  }
}
