// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.sendrecv.queue.ReceiveBuffers;
import dev.ferrule.sendrecv.queue.SendRecvChannel;
import dev.ferrule.sendrecv.queue.SharedReceives;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The receive side of a connection with its own buffers, which are posted to its own receive queue.
 */
final class OwnBuffers extends BufferSide {

  private final SharedDevice device;
  private final Arena arena;
  private final int count;
  private final int size;
  private final int postedTogether;
  private @Nullable ReceiveBuffers buffers;

  OwnBuffers(SharedDevice device, Arena arena, ResolvedOptions options) {
    super(options, SendRecvOptions.receives(options));
    this.device = device;
    this.arena = arena;
    this.count = SendRecvOptions.receives(options) + SendRecvChannel.CONTROL_RECEIVES;
    this.size = RdmaOptions.maxMessage(options);
    this.postedTogether = options.get(SendRecvOptions.REPOST_BATCH);
  }

  @Override
  public int receives() {
    return count;
  }

  @Override
  public @Nullable SharedReceiveQueue sharedQueue() {
    return null;
  }

  @Override
  public void start(QueuePair queuePair) {
    ReceiveBuffers made = new ReceiveBuffers(device.domain(), arena, count, size, postedTogether);
    buffers = made;
    int result = made.postAll(queuePair);
    if (result < 0) {
      throw new VerbsException("ibv_post_recv", count + " receives", -result);
    }
  }

  @Override
  ReceiveBuffers buffers() {
    ReceiveBuffers made = buffers;
    if (made == null) {
      throw new IllegalStateException("the buffers have not been created yet");
    }
    return made;
  }

  @Override
  SharedReceives.@Nullable Share share() {
    return null;
  }

  @Override
  MemorySegment view() {
    return buffers().view();
  }

  @Override
  public void stop() {
    if (buffers != null) {
      buffers.stop();
    }
  }

  @Override
  public void close() {
    if (buffers != null) {
      buffers.close();
    }
  }

  @Override
  public void discard() {
    if (buffers != null) {
      buffers.discard();
    }
  }
}
