// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.sendrecv.queue.Inbox;
import dev.ferrule.sendrecv.queue.ReceiveBuffers;
import dev.ferrule.sendrecv.queue.ReceiveQueue;
import dev.ferrule.sendrecv.queue.SharedReceives;
import dev.ferrule.spi.Unmapper;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.endpoint.Cleanup;
import dev.ferrule.verbs.endpoint.Fabric;
import dev.ferrule.verbs.endpoint.FabricDevice;
import java.lang.foreign.Arena;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What the connections of a listener share on one device, if its options say so: receive buffers in
 * a shared receive queue (srq), a completion queue (singleReceiver), or both. It lives as long as
 * anybody retains it: the listener, and each connection.
 */
final class ReceiveGroup {

  /** Completions that a common queue has room for; soft-RoCE and others cannot enlarge one. */
  private static final int COMMON_COMPLETIONS = 16_384;

  private final Fabric fabric;
  private final FabricDevice device;
  private final Arena arena = Arena.ofShared();
  private @Nullable SharedReceiveQueue sharedQueue;
  private @Nullable ReceiveBuffers buffers;
  private @Nullable SharedReceives shared;
  private @Nullable CompletionQueue completions;
  private @Nullable ReceiveQueue queue;
  private long key;
  private int freeCompletions; // under the group's monitor
  private int retained = 1; // under the group's monitor
  private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

  /** Makes what the options ask for; the caller retains it. */
  ReceiveGroup(Fabric fabric, FabricDevice device, ConnectionOptions options) {
    this.fabric = fabric;
    this.device = device;
    fabric.retainMore();
    boolean done = false;
    try {
      if (SendRecvOptions.isOn(options, SendRecvOptions.SRQ)) {
        makeSharedReceives(options);
      }
      if (SendRecvOptions.isOn(options, SendRecvOptions.SINGLE_RECEIVER)) {
        makeCommonQueue();
      }
      done = true;
    } finally {
      if (!done) {
        release();
      }
    }
  }

  private void makeSharedReceives(ConnectionOptions options) {
    int count =
        Math.min(SendRecvOptions.sharedReceives(options), device.attributes().maxSharedReceives());
    SharedReceiveQueue made = device.domain().createSharedReceiveQueue(count);
    sharedQueue = made;
    ReceiveBuffers memory =
        new ReceiveBuffers(
            device.domain(),
            arena,
            count,
            Math.toIntExact(options.get(StandardOptions.MAX_MESSAGE)));
    buffers = memory;
    shared = new SharedReceives(made, memory);
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

  private void stray(int buffer) {
    if (shared != null) {
      shared.stray(buffer);
    }
  }

  FabricDevice device() {
    return device;
  }

  /** The shared buffers; null if each connection has its own. */
  @Nullable SharedReceives shared() {
    return shared;
  }

  /** The shared receive queue; null if each connection has its own. */
  @Nullable SharedReceiveQueue sharedQueue() {
    return sharedQueue;
  }

  /** The common completion queue; null if each connection has its own. */
  @Nullable CompletionQueue completions() {
    return completions;
  }

  /** The queue over {@link #completions}; null if each connection has its own. */
  @Nullable ReceiveQueue queue() {
    return queue;
  }

  /**
   * How many messages of one connection may have come at a time: all that there is room for, as a
   * peer need not keep to its credit.
   */
  int sharedCapacity() {
    SharedReceives known = shared;
    return known == null ? 0 : known.buffers().count();
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

  /** Has all messages go into one inbox. */
  void collect(Inbox inbox, Runnable wake) {
    ReceiveQueue known = queue;
    if (known == null) {
      throw new IllegalStateException("there is no common completion queue");
    }
    known.collect(inbox, wake);
  }

  void add(Channel channel) {
    channels.add(channel);
  }

  void remove(Channel channel) {
    channels.remove(channel);
  }

  void freeForStarvingPeers() {
    channels.forEach(Channel::freeForStarvingPeer);
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
        shared,
        queue,
        completions,
        () -> device.forget(key),
        sharedQueue,
        buffers,
        () -> Unmapper.close(arena),
        fabric::release);
  }
}
