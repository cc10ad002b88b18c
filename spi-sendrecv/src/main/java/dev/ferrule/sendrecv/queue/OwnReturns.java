// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.verbs.QueuePair;

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
    freed[freedCount++] = buffer;
    if (freedCount == freed.length || window.isPeerStarving()) {
      repost();
    }
  }

  @Override
  public void freeForStarvingPeer() {
    if (freedCount > 0 && window.isPeerStarving()) {
      repost();
    }
  }

  private void repost() {
    int result = buffers.post(queuePair, freed, freedCount);
    window.reposted(freedCount);
    freedCount = 0;
    if (result < 0) {
      channel.link().onPostFailure("ibv_post_recv", -result);
    } else {
      channel.grantIfDue();
    }
  }

  @Override
  public void close() {
    buffers.stop();
  }
}
