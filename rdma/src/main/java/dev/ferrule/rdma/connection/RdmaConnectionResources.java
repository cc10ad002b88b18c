// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.context.Cleanup;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.rdma.onesided.AccessTable;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.QueueCallbacks;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendMemory;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmId;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The resources of a connection. They are acquired step by step during the handshake and released
 * together, even if only some have been acquired.
 */
final class RdmaConnectionResources {

  private static final System.Logger LOGGER =
      System.getLogger(RdmaConnectionResources.class.getName());

  private final RdmaProtocol protocol;
  private final RdmaContext rdmaContext;
  private final CmId id;
  private final @Nullable ReceiveGroup group;
  private final Arena arena = Arena.ofAuto(); // the program may keep segments
  private @Nullable SharedDevice device;
  private List<Long> watched = List.of(); // the queues whose asynchronous events are watched
  private @Nullable Consumer<AsyncEvent> watcher;
  private volatile Runnable sendListener = () -> {};
  private @Nullable CompletionQueue sendCompletions;
  private @Nullable CompletionQueue receiveCompletions;
  private volatile @Nullable ReceiveQueue receiveQueue; // also read by the event loop
  private @Nullable ReceiveSide receiveSide;
  private int reserved;
  private boolean stopped;
  private boolean closed;
  private @Nullable QueuePair queuePair;
  private @Nullable SendMemory sendMemory;
  private @Nullable AccessTable accessTable;

  /**
   * Takes ownership of an id.
   *
   * @param protocol creates the receive side
   * @param rdmaContext retained for the resources, released with them
   * @param id the id; bound to a device before {@link #makeQueues}
   * @param group the resources shared with other connections, retained by the caller for this
   *     object; null if there are none
   */
  RdmaConnectionResources(
      RdmaProtocol protocol, RdmaContext rdmaContext, CmId id, @Nullable ReceiveGroup group) {
    this.protocol = protocol;
    this.rdmaContext = rdmaContext;
    this.id = id;
    this.group = group;
  }

  /**
   * Creates the queues and posts the receives.
   *
   * @param connects whether this side is the client
   */
  void makeQueues(ResolvedOptions options, boolean connects) {
    SharedDevice found = rdmaContext.device(id);
    device = found;
    SharedReceiveSide shared = group == null ? null : group.shared();
    ReceiveSide side =
        shared == null ? protocol.receiveSide(found, arena, options, connects) : shared.admit();
    receiveSide = side;
    int receives = side.receives();
    int sends = options.get(RdmaOptions.UNACKED) + SendQueue.EXTRA_SENDS;
    int limit = found.attributes().maxWorkRequests();
    if (sends > limit || receives > limit) {
      throw new VerbsException(
          "rdma_create_qp",
          receives + " receives, " + sends + " sends",
          Errno.ENOMEM,
          "the device supports " + limit + " each; " + protocol.texts().queuesTooLarge(),
          null);
    }
    if (protocol.hasHandshake(options)) {
      accessTable = new AccessTable(found.domain(), arena);
    }
    CompletionQueue ofSends = found.createCompletionQueue(sends, () -> sendListener.run());
    sendCompletions = ofSends;
    CompletionQueue ofReceives = makeReceiveQueue(found, side, options.get(RdmaOptions.POLL_BATCH));
    QueuePair made = createQueuePair(sends, side, options, ofSends, ofReceives);
    queuePair = made;
    side.start(made);
  }

  private CompletionQueue makeReceiveQueue(SharedDevice found, ReceiveSide side, int batch) {
    if (group != null) {
      int needed = side.receives(); // 0 if shared: the queue has entries for all shared receives
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
    CompletionQueue made = found.createCompletionQueue(side.receives(), this::onReceiveEvent);
    receiveCompletions = made;
    receiveQueue = ReceiveQueue.ofOne(made, batch);
    return made;
  }

  private void onReceiveEvent() {
    ReceiveQueue known = receiveQueue;
    if (known != null) {
      known.onEvent();
    }
  }

  /** The device's inline limit cannot be queried, so it is found by trying smaller sizes. */
  private QueuePair createQueuePair(
      int sends,
      ReceiveSide side,
      ResolvedOptions options,
      CompletionQueue ofSends,
      CompletionQueue ofReceives) {
    int requested = Math.toIntExact(options.get(RdmaOptions.INLINE));
    int inline = requested;
    int pieces = Math.min(SendChain.PIECES, device().attributes().maxScatterGatherEntries());
    while (true) {
      try {
        QueuePair queuePair =
            id.createQueuePair(
                device().domain(),
                new QueuePairSizes(sends, side.receives(), inline, pieces),
                ofSends,
                ofReceives,
                side.sharedQueue());
        if (inline < requested) {
          LOGGER.log(
              System.Logger.Level.DEBUG,
              "the device cannot send {0} bytes inline, but {1}",
              requested,
              queuePair.sizes().inline());
        }
        return queuePair;
      } catch (VerbsException e) {
        if (inline == 0) {
          throw e;
        }
        inline = inline / 2;
      }
    }
  }

  /** Allocates the send memory. */
  void makeSendMemory(long size) {
    sendMemory = new SendMemory(device().domain(), arena, size);
  }

  /**
   * Returns the table for remote memory access; null without a handshake, as the hello carries its
   * key.
   */
  @Nullable AccessTable accessTable() {
    return accessTable;
  }

  /** Returns the remote key of that table; 0 if there is none. */
  int accessTableKey() {
    AccessTable table = accessTable;
    return table == null ? 0 : table.remoteKey();
  }

  /** Returns the parts from which the queues are created. */
  Channel.Parts parts(ResolvedOptions options, QueueCallbacks callbacks) {
    long requestedInline = options.get(RdmaOptions.INLINE);
    int supportedInline = queuePair().sizes().inline();
    return new Channel.Parts(
        queuePair(),
        require(sendCompletions),
        sendMemory(),
        options.get(RdmaOptions.UNACKED),
        requestedInline == 0 ? -1 : (int) Math.min(requestedInline, supportedInline),
        callbacks);
  }

  /** Sets the listener for the events of the completion queue of sends. */
  void onSendEvent(Runnable listener) {
    sendListener = listener;
  }

  RdmaProtocol protocol() {
    return protocol;
  }

  RdmaContext rdmaContext() {
    return rdmaContext;
  }

  CmId id() {
    return id;
  }

  SharedDevice device() {
    return require(device);
  }

  ReceiveQueue receiveQueue() {
    return require(receiveQueue);
  }

  /** Returns whether other connections use the same receive queue. */
  boolean isReceiveQueueCommon() {
    return group != null;
  }

  /** Returns whether receives come from a shared receive queue. */
  boolean isReceivingFromShared() {
    return receiveSide != null && receiveSide.sharedQueue() != null;
  }

  ReceiveSide receiveSide() {
    return require(receiveSide);
  }

  QueuePair queuePair() {
    return require(queuePair);
  }

  /**
   * Sets the minimum RNR NAK timer, as the device encodes it. Ignores EINVAL: a protocol violation
   * may have moved the queue pair to the error state, and that failure is reported instead.
   */
  void setMinRnrTimer(int code) {
    try {
      queuePair().setMinRnrTimer(code);
    } catch (VerbsException e) {
      if (e.errno() != Errno.EINVAL) {
        throw e;
      }
      LOGGER.log(System.Logger.Level.DEBUG, "the queue pair is already in the error state", e);
    }
  }

  /**
   * Adds a watcher, which the event loop calls, for the asynchronous events of the queues. Called
   * once.
   */
  void watch(Consumer<AsyncEvent> events) {
    List<Long> elements = new ArrayList<>();
    elements.add(queuePair().address());
    elements.add(require(sendCompletions).address());
    elements.add((group == null ? require(receiveCompletions) : group.completions()).address());
    SharedReceiveQueue shared = receiveSide().sharedQueue();
    if (shared != null) {
      elements.add(shared.address());
    }
    watched = elements;
    watcher = events;
    device().watch(elements, events);
  }

  boolean isWatched() {
    return watcher != null;
  }

  void unwatch() {
    if (watcher != null) {
      device().unwatch(watched, watcher);
    }
  }

  SendMemory sendMemory() {
    return require(sendMemory);
  }

  private static <T> T require(@Nullable T step) {
    if (step == null) {
      throw new IllegalStateException("the connection's resources are not created yet");
    }
    return step;
  }

  /**
   * Stops sending and receiving. Receives that were consumed still complete; the other work
   * requests are flushed. Poll the completions before the queue pair is destroyed: devices may drop
   * the completions of a destroyed queue pair.
   */
  void stopQueuePair() {
    if (receiveSide != null) {
      receiveSide.stop();
    }
    if (queuePair != null && !stopped) {
      stopped = true;
      if (id.disconnect() < 0) { // not connected, or no longer connected
        toError(queuePair);
      }
    }
  }

  private static void toError(QueuePair queuePair) {
    try {
      queuePair.toError();
    } catch (VerbsException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "the device failed or is gone", e);
    }
  }

  /** Destroys the queue pair. Completions that are polled later belong to no connection. */
  void destroyQueuePair() {
    stopQueuePair();
    if (queuePair != null) {
      id.destroyQueuePair();
      queuePair = null;
    }
  }

  /** Releases everything, once. Called when no thread uses the queues. */
  void close() {
    close(() -> false);
  }

  /**
   * Releases everything, once. Called when no thread uses the queues.
   *
   * @param isSeen returns whether a handler of another thread is processing a message in the
   *     memory; if so, the garbage collector frees the memory later
   */
  void close(BooleanSupplier isSeen) {
    if (closed) {
      return;
    }
    closed = true;
    boolean seen = isSeen.getAsBoolean();
    Cleanup.close(
        this::destroyQueuePair,
        () -> rdmaContext.destroy(id),
        this::destroyCompletionQueues,
        receiveSide,
        sendMemory,
        accessTable,
        () -> releaseGroup(seen),
        rdmaContext::release);
    if (!seen) {
      discard();
    }
  }

  private void discard() {
    if (receiveSide != null) {
      receiveSide.discard();
    }
    if (sendMemory != null) {
      sendMemory.discard();
    }
  }

  private void destroyCompletionQueues() {
    if (device != null) {
      device.destroy(receiveCompletions);
      device.destroy(sendCompletions);
    }
  }

  private void releaseGroup(boolean seen) {
    if (group != null) {
      group.giveCompletionsBack(reserved);
      group.release(seen);
    }
  }
}
