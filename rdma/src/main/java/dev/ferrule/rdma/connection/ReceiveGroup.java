// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.context.Cleanup;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.rdma.queue.ReceiveMultiplexer;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.CompletionQueue;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * The resources that the connections of a listener share on one device, depending on its options: a
 * completion queue (singleReceiver), or a completion queue and receives (srq). The group is
 * reference-counted: the listener and each connection retain it.
 *
 * <p>Connections with shared receives also share the completion queue. It has an entry for each
 * buffer, so it is small and cannot overflow. A completion queue per connection would need as many
 * entries: a peer that ignores its credit can fill all buffers. If a smaller queue overflowed, its
 * connection would end, and the buffers of the lost completions would be lost to all connections,
 * because only a completion identifies a buffer.
 */
final class ReceiveGroup {

  /**
   * The entries of a common queue if each connection has its own receives. soft-RoCE and other
   * devices cannot resize a queue.
   */
  private static final int COMMON_COMPLETIONS = 16_384;

  private final RdmaContext rdmaContext;
  private final SharedDevice device;
  private final Arena arena = Arena.ofAuto(); // the program may keep segments
  private @Nullable SharedReceiveSide shared;
  private @Nullable CompletionQueue completions;
  private volatile @Nullable ReceiveQueue queue; // also read by the event loop
  private int freeCompletions; // under the group's monitor
  private int retained = 1; // under the group's monitor
  private boolean wasSeen; // under the group's monitor: whether a handler may read the memory

  /** Creates the resources that the options require; the caller retains the group. */
  ReceiveGroup(
      RdmaProtocol protocol,
      RdmaContext rdmaContext,
      SharedDevice device,
      ResolvedOptions options) {
    this.rdmaContext = rdmaContext;
    this.device = device;
    rdmaContext.retainMore();
    try {
      if (protocol.sharesReceives(options)) {
        SharedReceiveSide made = protocol.shareReceives(device, arena, options);
        shared = made;
        makeCommonQueue(made.receives(), options.get(RdmaOptions.POLL_BATCH));
      } else {
        freeCompletions = Math.min(COMMON_COMPLETIONS, device.attributes().maxCompletions());
        makeCommonQueue(freeCompletions, options.get(RdmaOptions.POLL_BATCH));
      }
    } catch (Throwable e) {
      release();
      throw e;
    }
  }

  private void makeCommonQueue(int entries, int batch) {
    CompletionQueue made =
        device.createCompletionQueue(
            entries,
            () -> {
              ReceiveQueue known = queue;
              if (known != null) {
                known.onEvent();
              }
            });
    completions = made;
    queue = new ReceiveQueue(made, this::repostUnowned, batch);
  }

  private void repostUnowned(int receive) {
    if (shared != null) {
      shared.repostUnowned(receive);
    }
  }

  /** Returns the shared receive side; null if each connection has its own. */
  @Nullable SharedReceiveSide shared() {
    return shared;
  }

  /** Returns the common completion queue. */
  CompletionQueue completions() {
    return require(completions);
  }

  /** Returns the receive queue over {@link #completions}. */
  ReceiveQueue queue() {
    return require(queue);
  }

  private static <T> T require(@Nullable T made) {
    if (made == null) {
      throw new IllegalStateException("the group is not created yet");
    }
    return made;
  }

  /**
   * Reserves entries of the common completion queue for a connection with its own receives. Returns
   * false if too few are left.
   */
  synchronized boolean reserveCompletions(int count) {
    if (freeCompletions < count) {
      return false;
    }
    freeCompletions -= count;
    return true;
  }

  /** Returns entries of the common completion queue. */
  synchronized void giveCompletionsBack(int count) {
    freeCompletions += count;
  }

  /** Makes one receiver receive all messages. */
  void collect(ReceiveMultiplexer multiplexer) {
    queue().collect(multiplexer);
  }

  synchronized void retain() {
    retained++;
  }

  void release() {
    release(false);
  }

  /**
   * Releases the group for a connection or the listener. The last release frees the resources.
   *
   * @param isSeen whether a handler is processing a message of the connection; if so, the garbage
   *     collector frees the memory later
   */
  void release(boolean isSeen) {
    boolean discards;
    synchronized (this) {
      wasSeen |= isSeen;
      discards = !wasSeen;
      retained--;
      if (retained > 0) {
        return;
      }
    }
    Cleanup.close(queue, () -> device.destroy(completions), shared, rdmaContext::release);
    if (shared != null && discards) {
      shared.discard();
    }
  }
}
