// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.SpinLock;
import dev.ferrule.verbs.QueuePair;

/** Reposts the buffers of one connection to its own receive queue, several at a time. */
final class OwnBufferReposter implements BufferReposter {

  /** The number of freed buffers that are posted together, unless the peer is short of credit. */
  private static final int MAX_BATCH = 16;

  private final QueuePair queuePair;
  private final ReceiveBuffers buffers;
  private final Window window;
  private final Channel channel;
  private final BufferRing freed; // by the receiver's thread; emptied under the lock
  private final SpinLock lock = new SpinLock();
  private final int[] batch; // under the lock
  private int unposted; // at most this many are freed and not posted; by the receiver's thread

  OwnBufferReposter(
      QueuePair queuePair, ReceiveBuffers buffers, Window window, Channel channel, int receives) {
    this.queuePair = queuePair;
    this.buffers = buffers;
    this.window = window;
    this.channel = channel;
    this.freed = new BufferRing(buffers.count());
    this.batch =
        new int[Math.clamp(receives / 4, 1, Math.min(MAX_BATCH, buffers.postedTogether()))];
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
    if (unposted == batch.length || window.isPeerStarving()) {
      repostByReceiver();
    }
  }

  @Override
  public void repostForStarvingPeer() {
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

  /** Posts what is freed; returns whether there was anything. By any thread. */
  private boolean repost() {
    int result = 0;
    boolean any = false;
    lock.lock();
    try {
      int count;
      do {
        count = takeFreed();
        if (count > 0) {
          result = Math.min(result, buffers.post(queuePair, batch, count));
          window.reposted(count);
          any = true;
        }
      } while (count == batch.length);
    } finally {
      lock.unlock();
    }
    if (result < 0) {
      channel.callbacks().onPostFailure("ibv_post_recv", -result);
    }
    return any;
  }

  private int takeFreed() {
    int count = 0;
    while (count < batch.length && !freed.isEmpty()) {
      batch[count] = freed.poll();
      count++;
    }
    return count;
  }

  @Override
  public void close() {
    buffers.stop();
  }
}
