// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.sendrecv.queue.ReceiveBuffers;
import dev.ferrule.sendrecv.queue.SendQueue;
import dev.ferrule.spi.Unmapper;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.endpoint.Fabric;
import dev.ferrule.verbs.endpoint.FabricDevice;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * What a connection is made of: got step by step while the two sides agree, and given up all at
 * once, however far it has come.
 */
final class ConnectionResources {

  private final Fabric fabric;
  private final CmId id;
  private final Arena arena = Arena.ofShared();
  private @Nullable FabricDevice device;
  private long key;
  private volatile Runnable completionListener = () -> {};
  private @Nullable CompletionQueue sendCompletions;
  private @Nullable CompletionQueue receiveCompletions;
  private @Nullable QueuePair queuePair;
  private @Nullable ReceiveBuffers buffers;
  private @Nullable MemoryRegion sendMemory;

  /**
   * Takes over an id.
   *
   * @param fabric retained for the resources, and released with them
   * @param id bound to a device by the time of {@link #makeQueues}
   */
  ConnectionResources(Fabric fabric, CmId id) {
    this.fabric = fabric;
    this.id = id;
  }

  /** Makes the queues, and posts the receives. */
  void makeQueues(ConnectionOptions options) {
    FabricDevice found = fabric.device(id);
    device = found;
    int receives = SendRecvOptions.receives(options) + Channel.CONTROL_RECEIVES;
    int sends = options.get(SendRecvOptions.UNACKED) + SendQueue.CONTROL_SENDS;
    int limit = found.attributes().maxWorkRequests();
    if (Math.max(receives, sends) > limit) {
      throw new VerbsException(
          "rdma_create_qp",
          receives + " receives, " + sends + " sends",
          Errno.ENOMEM,
          "the device can do " + limit + " each; use smaller values of receives and unacked",
          null);
    }
    key = found.listen(() -> completionListener.run());
    CompletionQueue ofSends = found.createCompletionQueue(sends, key);
    sendCompletions = ofSends;
    CompletionQueue ofReceives = found.createCompletionQueue(receives, key);
    receiveCompletions = ofReceives;
    queuePair = createQueuePair(found, sends, receives, options, ofSends, ofReceives);
    ReceiveBuffers made =
        new ReceiveBuffers(
            found.domain(),
            arena,
            receives,
            Math.toIntExact(options.get(StandardOptions.MAX_MESSAGE)));
    buffers = made;
    int result = made.postAll(queuePair());
    if (result < 0) {
      throw new VerbsException("ibv_post_recv", receives + " receives", -result);
    }
  }

  /** How much can ride inline is only found out by trying. */
  private QueuePair createQueuePair(
      FabricDevice found,
      int sends,
      int receives,
      ConnectionOptions options,
      CompletionQueue ofSends,
      CompletionQueue ofReceives) {
    int inline = Math.toIntExact(options.get(SendRecvOptions.INLINE));
    while (true) {
      try {
        return id.createQueuePair(
            found.domain(), new QueuePairSizes(sends, receives, inline), ofSends, ofReceives, null);
      } catch (VerbsException e) {
        if (inline == 0) {
          throw e;
        }
        inline = inline / 2;
      }
    }
  }

  /** Makes the memory to send from. */
  void makeSendMemory(long size) {
    sendMemory = device().domain().register(arena, arena.allocate(size, SendQueue.LINE), 0);
  }

  /** Has completion events told to a connection. */
  void onCompletion(Runnable listener) {
    completionListener = listener;
  }

  Fabric fabric() {
    return fabric;
  }

  CmId id() {
    return id;
  }

  FabricDevice device() {
    return there(device);
  }

  Arena arena() {
    return arena;
  }

  CompletionQueue sendCompletions() {
    return there(sendCompletions);
  }

  CompletionQueue receiveCompletions() {
    return there(receiveCompletions);
  }

  QueuePair queuePair() {
    return there(queuePair);
  }

  ReceiveBuffers buffers() {
    return there(buffers);
  }

  MemoryRegion sendMemory() {
    return there(sendMemory);
  }

  private static <T> T there(@Nullable T step) {
    if (step == null) {
      throw new IllegalStateException("the connection is not made yet");
    }
    return step;
  }

  /** Gives everything up. To be called once, when nobody uses the queues any more. */
  void close() {
    try {
      if (buffers != null) {
        buffers.stop();
      }
      if (queuePair != null) {
        id.disconnect(); // fails if it is not connected, or no longer
        id.destroyQueuePair();
      }
      fabric.destroy(id);
      if (receiveCompletions != null) {
        receiveCompletions.close();
      }
      if (sendCompletions != null) {
        sendCompletions.close();
      }
      if (device != null) {
        device.forget(key);
      }
      if (buffers != null) {
        buffers.close();
      }
      if (sendMemory != null) {
        sendMemory.close();
      }
    } finally {
      Unmapper.close(arena);
      fabric.release();
    }
  }
}
