// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.spi.ArenaCloser;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.access.AccessTable;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.endpoint.Cleanup;
import dev.ferrule.verbs.endpoint.Fabric;
import dev.ferrule.verbs.endpoint.FabricDevice;
import dev.ferrule.verbs.queue.Channel;
import dev.ferrule.verbs.queue.Link;
import dev.ferrule.verbs.queue.ReceiveQueue;
import dev.ferrule.verbs.queue.SendMemory;
import dev.ferrule.verbs.queue.SendQueue;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a connection is made of: got step by step while the two sides agree, and given up all at
 * once, however far it has come.
 */
final class ConnectionResources {

  private static final System.Logger LOGGER = System.getLogger(ConnectionResources.class.getName());

  private final RdmaProtocol protocol;
  private final Fabric fabric;
  private final CmId id;
  private final @Nullable ReceiveGroup group;
  private final Arena arena = Arena.ofShared();
  private @Nullable FabricDevice device;
  private final List<Long> keys = new ArrayList<>(); // by which the device tells of completions
  private volatile Runnable sendListener = () -> {};
  private @Nullable CompletionQueue sendCompletions;
  private @Nullable CompletionQueue receiveCompletions;
  private volatile @Nullable ReceiveQueue receiveQueue; // for the fabric's thread, too
  private @Nullable ReceiveSide receiveSide;
  private int reserved;
  private boolean stopped;
  private boolean closed;
  private @Nullable QueuePair queuePair;
  private @Nullable SendMemory sendMemory;
  private @Nullable AccessTable accessTable;

  /**
   * Takes over an id.
   *
   * @param protocol has the receive side
   * @param fabric retained for the resources, and released with them
   * @param id bound to a device by the time of {@link #makeQueues}
   * @param group what it shares with other connections, retained by the caller for the resources;
   *     null if nothing
   */
  ConnectionResources(RdmaProtocol protocol, Fabric fabric, CmId id, @Nullable ReceiveGroup group) {
    this.protocol = protocol;
    this.fabric = fabric;
    this.id = id;
    this.group = group;
  }

  /**
   * Makes the queues, and posts the receives.
   *
   * @param connects whether this is the side that connects
   */
  void makeQueues(ConnectionOptions options, boolean connects) {
    FabricDevice found = fabric.device(id);
    device = found;
    SharedReceiveSide shared = group == null ? null : group.shared();
    ReceiveSide side =
        shared == null
            ? protocol.receiveSide(found, arena, options, connects)
            : shared.admit(arena);
    receiveSide = side;
    int receives = side.receives();
    int sends = options.get(RdmaOptions.UNACKED) + SendQueue.EXTRA_SENDS;
    int limit = found.attributes().maxWorkRequests();
    if (sends > limit || receives > limit) {
      throw new VerbsException(
          "rdma_create_qp",
          receives + " receives, " + sends + " sends",
          Errno.ENOMEM,
          "the device can do " + limit + " each; " + protocol.texts().queuesTooLarge(),
          null);
    }
    if (protocol.hasHandshake(options)) {
      accessTable = new AccessTable(found.domain(), arena);
    }
    CompletionQueue ofSends =
        found.createCompletionQueue(sends, listen(found, () -> sendListener.run()));
    sendCompletions = ofSends;
    CompletionQueue ofReceives = makeReceiveQueue(found, side);
    QueuePair made = createQueuePair(sends, side, options, ofSends, ofReceives);
    queuePair = made;
    side.start(made);
  }

  private long listen(FabricDevice found, Runnable listener) {
    long key = found.listen(listener);
    keys.add(key);
    return key;
  }

  private CompletionQueue makeReceiveQueue(FabricDevice found, ReceiveSide side) {
    if (group != null) {
      int needed = side.receives(); // none if they are shared: there is room for all of those
      if (!group.reserveCompletions(needed)) {
        throw new VerbsException(
            "ibv_create_cq",
            "",
            Errno.ENOMEM,
            "the common completion queue is full; " + protocol.texts().commonQueueFull(),
            null);
      }
      reserved = needed;
      receiveQueue = group.queue();
      return group.completions();
    }
    CompletionQueue made =
        found.createCompletionQueue(side.receives(), listen(found, this::onReceiveEvent));
    receiveCompletions = made;
    receiveQueue = ReceiveQueue.ofOne(made, side::stray);
    return made;
  }

  private void onReceiveEvent() {
    ReceiveQueue known = receiveQueue;
    if (known != null) {
      known.onEvent();
    }
  }

  /** How much can ride inline is only found out by trying. */
  private QueuePair createQueuePair(
      int sends,
      ReceiveSide side,
      ConnectionOptions options,
      CompletionQueue ofSends,
      CompletionQueue ofReceives) {
    int inline = Math.toIntExact(options.get(RdmaOptions.INLINE));
    while (true) {
      try {
        return id.createQueuePair(
            device().domain(),
            new QueuePairSizes(sends, side.receives(), inline),
            ofSends,
            ofReceives,
            side.sharedQueue());
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
    sendMemory = new SendMemory(device().domain(), arena, size);
  }

  /** The table for remote memory access; null if the peer could not be told of it. */
  @Nullable AccessTable accessTable() {
    return accessTable;
  }

  /** The key by which the peer's device knows that table; 0 if there is none. */
  int accessTableKey() {
    AccessTable table = accessTable;
    return table == null ? 0 : table.remoteKey();
  }

  /** All of it, as the queues need it. */
  Channel.Parts parts(ConnectionOptions options, Link link) {
    long inlineWanted = options.get(RdmaOptions.INLINE);
    int inlinePossible = queuePair().sizes().inline();
    return new Channel.Parts(
        queuePair(),
        there(sendCompletions),
        sendMemory(),
        options.get(RdmaOptions.UNACKED),
        inlineWanted == 0 ? -1 : (int) Math.min(inlineWanted, inlinePossible),
        link);
  }

  /** Has something done on each event of the completion queue for sends. */
  void onSendEvent(Runnable listener) {
    sendListener = listener;
  }

  RdmaProtocol protocol() {
    return protocol;
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

  ReceiveQueue receiveQueue() {
    return there(receiveQueue);
  }

  /** Whether other connections use the receive queue, too. */
  boolean isReceiveQueueCommon() {
    return group != null;
  }

  /** Whether receives come from a queue that is others' as well. */
  boolean isReceivingFromShared() {
    return receiveSide != null && receiveSide.sharedQueue() != null;
  }

  ReceiveSide receiveSide() {
    return there(receiveSide);
  }

  QueuePair queuePair() {
    return there(queuePair);
  }

  /** The queues that the device may report an error of, as its events name them. */
  List<Long> elements() {
    List<Long> elements = new ArrayList<>();
    elements.add(queuePair().address());
    elements.add(there(sendCompletions).address());
    elements.add((group == null ? there(receiveCompletions) : group.completions()).address());
    SharedReceiveQueue shared = receiveSide().sharedQueue();
    if (shared != null) {
      elements.add(shared.address());
    }
    return elements;
  }

  SendMemory sendMemory() {
    return there(sendMemory);
  }

  private static <T> T there(@Nullable T step) {
    if (step == null) {
      throw new IllegalStateException("the connection is not made yet");
    }
    return step;
  }

  /**
   * Has the queue pair send and receive nothing more. What it had received completes still, and the
   * rest is flushed, so completions are to be taken before it is destroyed: devices may drop those
   * of a queue pair that is gone.
   */
  void stopQueuePair() {
    if (receiveSide != null) {
      receiveSide.stop();
    }
    if (queuePair != null && !stopped) {
      stopped = true;
      if (id.disconnect() < 0) { // it is not connected, or no longer
        toError(queuePair);
      }
    }
  }

  private static void toError(QueuePair queuePair) {
    try {
      queuePair.toError();
    } catch (VerbsException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "the device is gone, or broken", e);
    }
  }

  /** Ends the use of the queue pair, and of what only it uses. Whatever comes after is stray. */
  void destroyQueuePair() {
    stopQueuePair();
    if (queuePair != null) {
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
        this::forgetKeys,
        receiveSide,
        sendMemory,
        accessTable,
        () -> ArenaCloser.close(arena),
        this::releaseGroup,
        fabric::release);
  }

  private void forgetKeys() {
    if (device != null) {
      keys.forEach(device::forget);
    }
  }

  private void releaseGroup() {
    if (group != null) {
      group.giveCompletionsBack(reserved);
      group.release();
    }
  }
}
