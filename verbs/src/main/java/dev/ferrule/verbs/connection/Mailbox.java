// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.verbs.cm.CmEvent;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what the connection manager tells of an id until the thread that makes a connection asks.
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

  /** Whether there is nothing to {@link #next take}. */
  boolean isEmpty() {
    return events.isEmpty();
  }

  /**
   * Waits for the next event.
   *
   * @param deadline until when, by System.nanoTime
   * @return the event; null after the deadline
   */
  @Nullable CmEvent next(long deadline) throws InterruptedException {
    return events.poll(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
  }
}
