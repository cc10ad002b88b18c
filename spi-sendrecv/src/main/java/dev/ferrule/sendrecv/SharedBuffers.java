// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.rdma.connection.ReceiveSide;
import dev.ferrule.rdma.connection.SharedReceiveSide;
import dev.ferrule.rdma.context.Cleanup;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.sendrecv.queue.ReceiveBuffers;
import dev.ferrule.sendrecv.queue.SharedReceives;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.DeviceAttributes;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Receive buffers shared by all connections of a listener on one device, in a shared receive queue
 * (option {@code srq}).
 */
final class SharedBuffers implements SharedReceiveSide {

  private final ResolvedOptions options;
  private final SharedReceiveQueue queue;
  private final ReceiveBuffers buffers;
  private final SharedReceives receives;

  private SharedBuffers(
      ResolvedOptions options,
      SharedReceiveQueue queue,
      ReceiveBuffers buffers,
      SharedReceives receives) {
    this.options = options;
    this.queue = queue;
    this.buffers = buffers;
    this.receives = receives;
  }

  /** Creates the queue and the buffers, and posts all buffers. */
  static SharedBuffers make(SharedDevice device, Arena arena, ResolvedOptions options) {
    DeviceAttributes limits = device.attributes();
    int count =
        Math.min(
            SendRecvOptions.sharedReceives(options),
            Math.min(limits.maxSharedReceives(), limits.maxCompletions()));
    int size = RdmaOptions.maxMessage(options);
    SharedReceiveQueue queue = device.domain().createSharedReceiveQueue(count);
    ReceiveBuffers buffers = null;
    boolean done = false;
    try {
      buffers =
          new ReceiveBuffers(
              device.domain(), arena, count, size, options.get(SendRecvOptions.REPOST_BATCH));
      SharedBuffers made =
          new SharedBuffers(
              options,
              queue,
              buffers,
              new SharedReceives(queue, buffers, SendRecvOptions.usesCredits(options)));
      done = true;
      return made;
    } finally {
      if (!done) {
        Cleanup.close(queue, buffers);
      }
    }
  }

  @Override
  public int receives() {
    return buffers.count();
  }

  @Override
  public void discard() {
    buffers.discard();
  }

  @Override
  public ReceiveSide admit() {
    SharedReceives.Share share = receives.admit();
    if (share == null) {
      throw new VerbsException(
          "ibv_post_srq_recv",
          "",
          Errno.ENOMEM,
          "no shared receive buffers are left; raise the option receives",
          null);
    }
    return new Part(options, share);
  }

  @Override
  public void repostUnowned(int receive) {
    receives.repostUnowned(receive);
  }

  @Override
  public void close() {
    Cleanup.close(receives, queue, buffers);
  }

  /** The receive side of one connection, with its share of the buffers. */
  private final class Part extends BufferSide {

    private final SharedReceives.Share share;

    Part(ResolvedOptions options, SharedReceives.Share share) {
      super(options, share.first());
      this.share = share;
    }

    @Override
    public int receives() {
      return 0;
    }

    @Override
    public SharedReceiveQueue sharedQueue() {
      return queue;
    }

    @Override
    public void start(QueuePair queuePair) {
      // the shared buffers are already posted
    }

    @Override
    ReceiveBuffers buffers() {
      return buffers;
    }

    @Override
    SharedReceives.@Nullable Share share() {
      return share;
    }

    @Override
    MemorySegment view() {
      return buffers.view();
    }

    @Override
    public void stop() {
      // other connections continue to receive into the buffers
    }

    @Override
    public void close() {
      share.leave();
    }
  }
}
