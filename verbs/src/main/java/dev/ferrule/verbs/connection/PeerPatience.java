// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.endpoint.Fabric;
import org.jspecify.annotations.Nullable;

/**
 * The time that the option {@code connectTimeout} grants to the network and the peer. It runs only
 * while this side waits for them: to load libraries, and to allocate and register memory, takes
 * seconds in a cold JVM, and is not for the peer to make up for.
 *
 * <p>For one thread.
 */
final class PeerPatience {

  private final Mailbox mailbox;
  private final Fabric fabric;
  private long nanosLeft;

  PeerPatience(Mailbox mailbox, Fabric fabric, ConnectionOptions options) {
    this.mailbox = mailbox;
    this.fabric = fabric;
    this.nanosLeft = options.get(RdmaOptions.CONNECT_TIMEOUT).toNanos();
  }

  /** Returns how much is left, in the form that librdmacm takes: at least 1. */
  int millisLeft() {
    return Math.clamp(nanosLeft / 1_000_000, 1, Integer.MAX_VALUE);
  }

  /** Waits for the next event; returns null if the time is over and there is none. */
  @Nullable CmEvent next() throws InterruptedException {
    long start = System.nanoTime();
    CmEvent event = mailbox.next(nanosLeft);
    nanosLeft -= System.nanoTime() - start;
    return event == null ? mailbox.last(fabric) : event;
  }
}
