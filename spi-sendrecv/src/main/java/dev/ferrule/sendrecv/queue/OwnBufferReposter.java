// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.verbs.QueuePair;

/** Reposts the buffers of one connection to its own receive queue, several at a time. */
final class OwnBufferReposter implements BufferReposter {

  /**
   * The maximum number of freed buffers that are posted together. Fewer are posted if the peer is
   * short of credit.
   */
  private static final int MAX_BATCH = 16;

  private final QueuePair queuePair;
  private final ReceiveBuffers buffers;
  private final Window window;
  private final Channel channel;
  private final BufferRing freed; // by the receiver's thread; emptied under the buffers' lock
  private final int batch;
  private int
      unposted; // an upper bound of the freed buffers that are not posted; by the receiver's thread

  OwnBufferReposter(
      QueuePair queuePair, ReceiveBuffers buffers, Window window, Channel channel, int receives) {
    this.queuePair = queuePair;
    this.buffers = buffers;
    this.window = window;
    this.channel = channel;
    this.freed = new BufferRing(buffers.count());
    this.batch = Math.clamp(receives / 4, 1, Math.min(MAX_BATCH, buffers.postedTogether()));
  }

  @Override
  public void filled(int buffer) {
    // the buffer remains with this connection
  }

  @Override
  public void dropped(int buffer) {
    // the connection has ended, so its buffers are not reposted
  }

  @Override
  public int control(int buffer) {
    int result = buffers.post(queuePair, buffer);
    window.controlReposted();
    return result;
  }

  @Override
  public void free(int buffer) {
    freed.add(buffer);
    unposted++;
    if (unposted == batch || window.isPeerStarving()) {
      repostByReceiver();
    }
  }

  @Override
  public void repostForBlockedPeer() {
    if (unposted > 0 && window.isPeerStarving()) {
      repostByReceiver();
    }
  }

  private void repostByReceiver() {
    unposted = 0;
    if (repost()) {
      channel.reportIfDue();
    }
  }

  @Override
  public void repostAll() {
    repost();
  }

  /** Posts the freed buffers; returns whether there were any. By any thread. */
  private boolean repost() {
    int result = buffers.post(queuePair, freed, batch, window);
    if (result < 0) {
      channel.callbacks().onCallFailure("ibv_post_recv", -result);
    }
    return result != 0;
  }

  @Override
  public void close() {
    buffers.stop();
  }
}
