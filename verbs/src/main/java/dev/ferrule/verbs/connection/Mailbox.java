// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.endpoint.Fabric;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the connection manager's events of an id until the thread that makes a connection takes
 * them.
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

  /** Passes on what is left, and all that comes. */
  synchronized void handOver(Consumer<CmEvent> to) {
    successor = to;
    events.forEach(to);
    events.clear();
  }

  /** Returns whether there is nothing to {@link #next take}. */
  boolean isEmpty() {
    return events.isEmpty();
  }

  /**
   * Waits for the next event. One that is here already is returned even if the time is over.
   *
   * @param nanos for how long
   * @return the event; null if none came
   */
  @Nullable CmEvent next(long nanos) throws InterruptedException {
    return events.poll(Math.max(0, nanos), TimeUnit.NANOSECONDS);
  }

  /**
   * Takes the next event after the time to wait for it is over, if it came before: the fabric's
   * thread may not have passed it on yet.
   *
   * @param fabric has the events
   * @return the event; null if none has come
   */
  @Nullable CmEvent last(Fabric fabric) throws InterruptedException {
    CmEvent known = events.poll();
    if (known != null) {
      return known;
    }
    fabric.takeWaitingEvents();
    return events.poll();
  }
}
