// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.support.Lifecycle;

/**
 * The periodic work of a connection: probes the peer, and reports free buffer space. The program's
 * threads may make no call for a long time.
 *
 * <p><b>Threads:</b> runs on the event loop, so it must not block.
 */
final class ConnectionTick implements Runnable {

  private static final int PROBES_PER_TIMEOUT = 4;

  /** The maximum number of polls per tick: the ticks of all connections share a thread. */
  private static final int POLLS_PER_TICK = 32;

  private final Lifecycle life;
  private final Channel channel;
  private final ReceiveQueue receives;
  private final boolean flowControlled;
  private final long probeNanos;
  private volatile boolean confirmed;
  private long lastProbe = System.nanoTime(); // only by the event loop

  /**
   * Creates the periodic work of a connection.
   *
   * @param peerTimeoutNanos the time without a completed request after which the peer is lost, in
   *     nanoseconds; 0 if it is not probed
   */
  ConnectionTick(
      Lifecycle life,
      Channel channel,
      ReceiveQueue receives,
      boolean flowControlled,
      long peerTimeoutNanos) {
    this.life = life;
    this.channel = channel;
    this.receives = receives;
    this.flowControlled = flowControlled;
    this.probeNanos = peerTimeoutNanos / PROBES_PER_TIMEOUT;
  }

  /** Starts probing: the peer has confirmed the connection. By any thread. */
  void startProbing() {
    confirmed = true;
  }

  @Override
  public void run() {
    if (life.hasEnded()) {
      return;
    }
    long now = System.nanoTime();
    if (confirmed && probeNanos > 0 && now - lastProbe >= probeNanos) {
      lastProbe = now;
      probe();
    } else {
      channel.sends().pollAndReport();
    }
    pollForReports();
    channel.tick();
  }

  private void probe() {
    channel.sends().probe();
    // without flow control, a peer that posts no receives may delay a message without limit
    if (flowControlled && channel.sends().isStalled(PROBES_PER_TIMEOUT, probeNanos)) {
      life.lost(
          "no request to the peer's device has completed for longer than the option peerTimeout (its"
              + " host is dead, or the link is cut)");
    }
  }

  /**
   * Polls for the answer to an earlier report. The program's thread may not poll, for example while
   * it waits for buffer space at this peer.
   */
  private void pollForReports() {
    int rounds = 0;
    while (rounds < POLLS_PER_TICK && channel.isReportBlocked() && receives.poll()) {
      rounds++;
    }
  }
}
