// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.sendrecv.queue.Channel;
import dev.ferrule.sendrecv.queue.ReceiveBuffers;
import dev.ferrule.sendrecv.queue.ReceiveQueue;
import dev.ferrule.sendrecv.queue.SendQueue;
import dev.ferrule.sendrecv.queue.SharedReceives;
import dev.ferrule.spi.Unmapper;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.endpoint.Cleanup;
import dev.ferrule.verbs.endpoint.Fabric;
import dev.ferrule.verbs.endpoint.FabricDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a connection is made of: got step by step while the two sides agree, and given up all at
 * once, however far it has come.
 */
final class ConnectionResources {

  private final Fabric fabric;
  private final CmId id;
  private final @Nullable ReceiveGroup group;
  private final Arena arena = Arena.ofShared();
  private @Nullable FabricDevice device;
  private long key;
  private volatile Runnable completionListener = () -> {};
  private @Nullable CompletionQueue sendCompletions;
  private @Nullable CompletionQueue receiveCompletions;
  private @Nullable ReceiveQueue receiveQueue;
  private SharedReceives.@Nullable Share share;
  private int receives;
  private int reserved;
  private boolean closed;
  private @Nullable QueuePair queuePair;
  private @Nullable ReceiveBuffers buffers;
  private @Nullable MemoryRegion sendMemory;

  /**
   * Takes over an id.
   *
   * @param fabric retained for the resources, and released with them
   * @param id bound to a device by the time of {@link #makeQueues}
   * @param group what it shares with other connections, retained by the caller for the resources;
   *     null if nothing
   */
  ConnectionResources(Fabric fabric, CmId id, @Nullable ReceiveGroup group) {
    this.fabric = fabric;
    this.id = id;
    this.group = group;
  }

  /** Makes the queues, and posts the receives. */
  void makeQueues(ConnectionOptions options) {
    FabricDevice found = fabric.device(id);
    device = found;
    SharedReceives shared = group == null ? null : group.shared();
    receives = shared == null ? SendRecvOptions.receives(options) : admit(shared);
    int posted = receives + Channel.CONTROL_RECEIVES;
    int sends = options.get(SendRecvOptions.UNACKED) + SendQueue.CONTROL_SENDS;
    int limit = found.attributes().maxWorkRequests();
    if (sends > limit || (shared == null && posted > limit)) {
      throw new VerbsException(
          "rdma_create_qp",
          posted + " receives, " + sends + " sends",
          Errno.ENOMEM,
          "the device can do " + limit + " each; use smaller values of receives and unacked",
          null);
    }
    key = found.listen(() -> completionListener.run());
    CompletionQueue ofSends = found.createCompletionQueue(sends, key);
    sendCompletions = ofSends;
    CompletionQueue ofReceives = makeReceiveQueue(found, posted);
    queuePair = createQueuePair(sends, shared == null ? posted : 0, options, ofSends, ofReceives);
    if (shared == null) {
      makeBuffers(posted, options);
    }
  }

  private int admit(SharedReceives shared) {
    SharedReceives.Share admitted = shared.admit();
    if (admitted == null) {
      throw new VerbsException(
          "ibv_post_srq_recv",
          "",
          Errno.ENOMEM,
          "no shared receive buffers are left; raise the option receives",
          null);
    }
    share = admitted;
    return admitted.first();
  }

  private CompletionQueue makeReceiveQueue(FabricDevice found, int posted) {
    CompletionQueue common = group == null ? null : group.completions();
    ReceiveQueue commonQueue = group == null ? null : group.queue();
    if (group != null && common != null && commonQueue != null) {
      int needed = share == null ? posted : 0; // there is room for all shared buffers
      if (!group.reserveCompletions(needed)) {
        throw new VerbsException(
            "ibv_create_cq",
            "",
            Errno.ENOMEM,
            "the common completion queue is full; use fewer connections or receives",
            null);
      }
      reserved = needed;
      receiveQueue = commonQueue;
      return common;
    }
    // as many as there can be
    int entries = share == null || group == null ? posted : group.sharedCapacity();
    CompletionQueue made = found.createCompletionQueue(entries, key);
    receiveCompletions = made;
    receiveQueue = new ReceiveQueue(made, buffer -> strayBuffer(buffer));
    return made;
  }

  private void strayBuffer(int buffer) {
    SharedReceives shared = group == null ? null : group.shared();
    if (shared != null) {
      shared.stray(buffer);
    }
  }

  private void makeBuffers(int count, ConnectionOptions options) {
    ReceiveBuffers made =
        new ReceiveBuffers(
            device().domain(),
            arena,
            count,
            Math.toIntExact(options.get(StandardOptions.MAX_MESSAGE)));
    buffers = made;
    int result = made.postAll(queuePair());
    if (result < 0) {
      throw new VerbsException("ibv_post_recv", count + " receives", -result);
    }
  }

  /** How much can ride inline is only found out by trying. */
  private QueuePair createQueuePair(
      int sends,
      int ownReceives,
      ConnectionOptions options,
      CompletionQueue ofSends,
      CompletionQueue ofReceives) {
    int inline = Math.toIntExact(options.get(SendRecvOptions.INLINE));
    while (true) {
      try {
        return id.createQueuePair(
            device().domain(),
            new QueuePairSizes(sends, ownReceives, inline),
            ofSends,
            ofReceives,
            group == null ? null : group.sharedQueue());
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

  ReceiveQueue receiveQueue() {
    return there(receiveQueue);
  }

  /** What the connection shares with others; null if nothing. */
  @Nullable ReceiveGroup group() {
    return group;
  }

  /** Its part of the shared buffers; null if it has its own. */
  SharedReceives.@Nullable Share share() {
    return share;
  }

  /** For how many messages there is room. */
  int receives() {
    return receives;
  }

  QueuePair queuePair() {
    return there(queuePair);
  }

  ReceiveBuffers buffers() {
    SharedReceives shared = group == null ? null : group.shared();
    return shared == null ? there(buffers) : shared.buffers();
  }

  /** The buffers' memory, to be read as long as the connection lives. */
  MemorySegment view() {
    MemorySegment view = buffers().view();
    return share == null ? view : view.reinterpret(arena, null);
  }

  /** The queues that the device may report an error of, as its events name them. */
  List<Long> elements() {
    List<Long> elements = new ArrayList<>();
    elements.add(queuePair().address());
    elements.add(sendCompletions().address());
    CompletionQueue common = group == null ? null : group.completions();
    elements.add((common == null ? there(receiveCompletions) : common).address());
    SharedReceiveQueue shared = group == null ? null : group.sharedQueue();
    if (shared != null) {
      elements.add(shared.address());
    }
    return elements;
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

  /** Ends the use of the queue pair, and of what only it uses. Whatever comes after is stray. */
  void destroyQueuePair() {
    if (buffers != null) {
      buffers.stop();
    }
    if (queuePair != null) {
      id.disconnect(); // fails if it is not connected, or no longer
      id.destroyQueuePair();
      queuePair = null;
    }
  }

  /** Gives everything up, once. To be called when nobody uses the queues any more. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    Cleanup.close(
        this::destroyQueuePair,
        () -> fabric.destroy(id),
        receiveCompletions,
        sendCompletions,
        this::forgetKey,
        buffers,
        sendMemory,
        this::leaveShare,
        () -> Unmapper.close(arena),
        this::releaseGroup,
        fabric::release);
  }

  private void forgetKey() {
    if (device != null) {
      device.forget(key);
    }
  }

  private void leaveShare() {
    if (share != null) {
      share.leave();
    }
  }

  private void releaseGroup() {
    if (group != null) {
      group.giveCompletionsBack(reserved);
      group.release();
    }
  }
}
