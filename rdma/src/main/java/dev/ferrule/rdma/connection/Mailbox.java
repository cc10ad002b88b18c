// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.verbs.cm.CmEvent;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Queues the connection manager's events of an id for the thread that establishes the connection.
 */
final class Mailbox implements Consumer<CmEvent> {

  private final BlockingQueue<CmEvent> events = new LinkedBlockingQueue<>();
  private @Nullable Consumer<CmEvent> successor;

  @Override
  public synchronized void accept(CmEvent event) {
    if (successor == null) {
      events.add(event);
    } else {
      successor.accept(event);
    }
  }

  /** Passes queued and future events to another consumer. */
  synchronized void handOver(Consumer<CmEvent> to) {
    successor = to;
    events.forEach(to);
    events.clear();
  }

  /** Returns whether no event is queued. */
  boolean isEmpty() {
    return events.isEmpty();
  }

  /**
   * Waits for the next event. Returns a queued event even if the time has elapsed, or the thread is
   * interrupted.
   *
   * @param nanos the time to wait, in nanoseconds
   * @return the event; null if the wait timed out
   * @throws InterruptedException if the thread is interrupted and must wait
   */
  @Nullable CmEvent next(long nanos) throws InterruptedException {
    CmEvent queued = events.poll();
    return queued != null || nanos <= 0 ? queued : events.poll(nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Takes an event that arrived in time, after a wait for it has timed out: the event loop may not
   * have dispatched it yet.
   *
   * @param rdmaContext dispatches the events
   * @return the event; null if there is none
   */
  @Nullable CmEvent last(RdmaContext rdmaContext) throws InterruptedException {
    CmEvent known = events.poll();
    if (known != null) {
      return known;
    }
    rdmaContext.takeWaitingEvents();
    return events.poll();
  }
}
