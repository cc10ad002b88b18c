// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.queue.Channel;
import java.util.concurrent.atomic.AtomicBoolean;

/** Buffers of one connection, which are posted to its own receive queue, several at a time. */
final class OwnReturns implements Returns {

  /** So many freed buffers are posted together, unless the peer is short of credit. */
  private static final int MAX_BATCH = 16;

  private final QueuePair queuePair;
  private final ReceiveBuffers buffers;
  private final Window window;
  private final Channel channel;
  private final int[] freed;
  private int freedCount;
  private final AtomicBoolean keeps = new AtomicBoolean(); // any in freed, for other threads
  private volatile boolean flushWanted;

  OwnReturns(
      QueuePair queuePair, ReceiveBuffers buffers, Window window, Channel channel, int receives) {
    this.queuePair = queuePair;
    this.buffers = buffers;
    this.window = window;
    this.channel = channel;
    this.freed = new int[Math.clamp(receives / 4, 1, MAX_BATCH)];
  }

  @Override
  public void taken(int buffer) {
    // it stays this connection's
  }

  @Override
  public void dropped(int buffer) {
    // whatever it was, the connection is at its end
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
    if (freedCount == freed.length || window.isPeerStarving() || flushWanted) {
      repost();
    }
  }

  @Override
  public void freeForStarvingPeer() {
    if (freedCount > 0 && (window.isPeerStarving() || flushWanted)) {
      repost();
    }
  }

  @Override
  public boolean keepsAny() {
    boolean any = keeps.getAcquire();
    flushWanted = any;
    return any;
  }

  private void repost() {
    boolean asked = flushWanted;
    if (asked) {
      flushWanted = false;
    }
    int result = buffers.post(queuePair, freed, freedCount);
    window.reposted(freedCount);
    freedCount = 0;
    keeps.setRelease(false);
    if (result < 0) {
      channel.link().onPostFailure("ibv_post_recv", -result);
    } else if (asked) {
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
