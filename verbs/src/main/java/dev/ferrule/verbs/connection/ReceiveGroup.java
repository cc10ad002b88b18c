// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.spi.ArenaCloser;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.endpoint.Cleanup;
import dev.ferrule.verbs.endpoint.Fabric;
import dev.ferrule.verbs.endpoint.FabricDevice;
import dev.ferrule.verbs.queue.CommonArrivals;
import dev.ferrule.verbs.queue.ReceiveQueue;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * What the connections of a listener share on one device, if its options say so: a completion queue
 * (singleReceiver), or that and what they receive into (srq). It lives as long as it is retained:
 * by the listener, and by each connection.
 *
 * <p>Connections that receive into shared buffers share the completion queue, too, since only then
 * it cannot overflow and stays small: it has an entry for each buffer. A queue for each connection
 * would need as many entries, as a peer that ignores its credit can fill all buffers. With fewer,
 * it would overflow; that ends the connection, but takes the buffers of the lost completions from
 * all others, as no other record says which they were.
 */
final class ReceiveGroup {

  /**
   * Completions that a common queue has room for if each connection has its own receives; soft-RoCE
   * and others cannot enlarge one.
   */
  private static final int COMMON_COMPLETIONS = 16_384;

  private final Fabric fabric;
  private final FabricDevice device;
  private final Arena arena = Arena.ofShared();
  private @Nullable SharedReceiveSide shared;
  private @Nullable CompletionQueue completions;
  private volatile @Nullable ReceiveQueue queue; // for the fabric's thread, too
  private long key;
  private int freeCompletions; // under the group's monitor
  private int retained = 1; // under the group's monitor

  /** Makes what the options ask for; the caller retains it. */
  ReceiveGroup(
      RdmaProtocol protocol, Fabric fabric, FabricDevice device, ConnectionOptions options) {
    this.fabric = fabric;
    this.device = device;
    fabric.retainMore();
    boolean done = false;
    try {
      if (protocol.sharesReceives(options)) {
        SharedReceiveSide made = protocol.shareReceives(device, arena, options);
        shared = made;
        makeCommonQueue(made.receives());
      } else {
        freeCompletions = Math.min(COMMON_COMPLETIONS, device.attributes().maxCompletions());
        makeCommonQueue(freeCompletions);
      }
      done = true;
    } finally {
      if (!done) {
        release();
      }
    }
  }

  private void makeCommonQueue(int entries) {
    key =
        device.listen(
            () -> {
              ReceiveQueue known = queue;
              if (known != null) {
                known.onEvent();
              }
            });
    CompletionQueue made = device.createCompletionQueue(entries, key);
    completions = made;
    queue = new ReceiveQueue(made, this::stray);
  }

  private void stray(int receive) {
    if (shared != null) {
      shared.stray(receive);
    }
  }

  /** What connections receive into; null if each has its own. */
  @Nullable SharedReceiveSide shared() {
    return shared;
  }

  /** The common completion queue. */
  CompletionQueue completions() {
    return there(completions);
  }

  /** The queue over {@link #completions}. */
  ReceiveQueue queue() {
    return there(queue);
  }

  private static <T> T there(@Nullable T made) {
    if (made == null) {
      throw new IllegalStateException("the group is not made");
    }
    return made;
  }

  /**
   * Sets completions of the common queue aside, for a connection with its own receives; false if
   * there are not so many left.
   */
  synchronized boolean reserveCompletions(int count) {
    if (freeCompletions < count) {
      return false;
    }
    freeCompletions -= count;
    return true;
  }

  /** Gives completions of the common queue back. */
  synchronized void giveCompletionsBack(int count) {
    freeCompletions += count;
  }

  /** Has one receiver take all messages. */
  void collect(CommonArrivals arrivals) {
    queue().collect(arrivals);
  }

  synchronized void retain() {
    retained++;
  }

  void release() {
    synchronized (this) {
      retained--;
      if (retained > 0) {
        return;
      }
    }
    Cleanup.close(
        queue,
        completions,
        () -> device.forget(key),
        shared,
        () -> ArenaCloser.close(arena),
        fabric::release);
  }
}
