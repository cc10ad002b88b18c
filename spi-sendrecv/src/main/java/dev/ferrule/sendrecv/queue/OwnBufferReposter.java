// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.verbs.QueuePair;
import java.util.concurrent.atomic.AtomicBoolean;

/** Reposts the buffers of one connection to its own receive queue, several at a time. */
final class OwnBufferReposter implements BufferReposter {

  /** The number of freed buffers that are posted together, unless the peer is short of credit. */
  private static final int MAX_BATCH = 16;

  private final QueuePair queuePair;
  private final ReceiveBuffers buffers;
  private final Window window;
  private final Channel channel;
  private final int[] freed;
  private int freedCount;
  private final AtomicBoolean keeps = new AtomicBoolean(); // freed is not empty; for other threads
  private volatile boolean flushRequested;

  OwnBufferReposter(
      QueuePair queuePair, ReceiveBuffers buffers, Window window, Channel channel, int receives) {
    this.queuePair = queuePair;
    this.buffers = buffers;
    this.window = window;
    this.channel = channel;
    this.freed = new int[Math.clamp(receives / 4, 1, MAX_BATCH)];
  }

  @Override
  public void taken(int buffer) {
    // the buffer remains with this connection
  }

  @Override
  public void dropped(int buffer) {
    // the connection has ended, so its buffers are not reposted
  }

  @Override
  public int control(int buffer) {
    int result = buffers.post(queuePair, buffer);
    window.controlTaken();
    return result;
  }

  @Override
  public void free(int buffer) {
    if (freedCount == 0) {
      keeps.setRelease(true);
    }
    freed[freedCount++] = buffer;
    if (freedCount == freed.length || window.isPeerStarving() || flushRequested) {
      repost();
    }
  }

  @Override
  public void freeForStarvingPeer() {
    if (freedCount > 0 && (window.isPeerStarving() || flushRequested)) {
      repost();
    }
  }

  @Override
  public boolean keepsAny() {
    boolean any = keeps.getAcquire();
    flushRequested = any;
    return any;
  }

  private void repost() {
    boolean requested = flushRequested;
    if (requested) {
      flushRequested = false;
    }
    int result = buffers.post(queuePair, freed, freedCount);
    window.reposted(freedCount);
    freedCount = 0;
    keeps.setRelease(false);
    if (result < 0) {
      channel.link().onPostFailure("ibv_post_recv", -result);
    } else if (requested) {
      channel.reportOwed();
    } else {
      channel.reportIfDue();
    }
  }

  @Override
  public void close() {
    buffers.stop();
  }
}
