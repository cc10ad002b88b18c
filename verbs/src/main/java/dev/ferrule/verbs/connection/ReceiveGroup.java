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
 * What the connections of a listener share on one device, if its options say so: what they receive
 * into, a completion queue (singleReceiver), or both. It lives as long as anybody retains it: the
 * listener, and each connection.
 */
final class ReceiveGroup {

  /** Completions that a common queue has room for; soft-RoCE and others cannot enlarge one. */
  private static final int COMMON_COMPLETIONS = 16_384;

  private final Fabric fabric;
  private final FabricDevice device;
  private final Arena arena = Arena.ofShared();
  private @Nullable SharedReceiveSide shared;
  private @Nullable CompletionQueue completions;
  private @Nullable ReceiveQueue queue;
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
        shared = protocol.shareReceives(device, arena, options);
      }
      if (RdmaOptions.isOn(options, RdmaOptions.SINGLE_RECEIVER)) {
        makeCommonQueue();
      }
      done = true;
    } finally {
      if (!done) {
        release();
      }
    }
  }

  private void makeCommonQueue() {
    freeCompletions = Math.min(COMMON_COMPLETIONS, device.attributes().maxCompletions());
    key =
        device.listen(
            () -> {
              ReceiveQueue known = queue;
              if (known != null) {
                known.wakeAll();
              }
            });
    CompletionQueue made = device.createCompletionQueue(freeCompletions, key);
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

  /** The common completion queue; null if each connection has its own. */
  @Nullable CompletionQueue completions() {
    return completions;
  }

  /** The queue over {@link #completions}; null if each connection has its own. */
  @Nullable ReceiveQueue queue() {
    return queue;
  }

  /** Sets completions of the common queue aside; false if there are not so many left. */
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
    ReceiveQueue known = queue;
    if (known == null) {
      throw new IllegalStateException("there is no common completion queue");
    }
    known.collect(arrivals);
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
