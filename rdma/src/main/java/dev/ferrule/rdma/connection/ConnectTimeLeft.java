// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.cm.CmEvent;
import org.jspecify.annotations.Nullable;

/**
 * The rest of {@code connectTimeout}. The timeout counts only the time that this side waits for the
 * network and the peer. It excludes loading libraries, and allocating and registering memory, which
 * take seconds in a cold JVM.
 *
 * <p>Not thread-safe.
 */
final class ConnectTimeLeft {

  private final Mailbox mailbox;
  private final RdmaContext rdmaContext;
  private long nanosLeft;

  ConnectTimeLeft(Mailbox mailbox, RdmaContext rdmaContext, ResolvedOptions options) {
    this.mailbox = mailbox;
    this.rdmaContext = rdmaContext;
    this.nanosLeft = options.get(RdmaOptions.CONNECT_TIMEOUT).toNanos();
  }

  /** Returns the time left in milliseconds, at least 1, as librdmacm requires. */
  int millisLeft() {
    return Math.clamp(nanosLeft / 1_000_000, 1, Integer.MAX_VALUE);
  }

  /** Waits for the next event; returns null if the wait times out. */
  @Nullable CmEvent next() throws InterruptedException {
    long start = System.nanoTime();
    CmEvent event = mailbox.next(nanosLeft);
    nanosLeft -= System.nanoTime() - start;
    return event == null ? mailbox.last(rdmaContext) : event;
  }
}
