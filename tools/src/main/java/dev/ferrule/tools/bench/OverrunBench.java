// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.util.List;

/**
 * Sends messages to a receiver that takes a given time for each, without waiting for receives to be
 * posted. If a message arrives while no receive is posted, the connection fails. The result is the
 * number of messages sent until then.
 *
 * <p>This is for connections without credits, whose devices do not retry (rnrRetry=0). With
 * credits, no message arrives without a posted receive.
 */
public final class OverrunBench {

  /** Part of the exception's message if no receive was posted for a message. */
  private static final String NOT_READY = "the peer had no receive posted";

  /** Fewer than the receives that a measured connection posts: a round does not wait for them. */
  private static final int WARM_UP_MESSAGES = 8;

  private final SenderThreads senderThreads;
  private final int size;
  private final Throughput.Flow flow;

  /**
   * Creates a benchmark.
   *
   * @param senderThreads the connections, all measured at once, and the sender threads
   * @param size the length of the messages in bytes
   * @param unacked the maximum number of incomplete messages on each connection
   * @param pauseNanos how long the receiver takes for each message, in nanoseconds
   */
  public OverrunBench(SenderThreads senderThreads, int size, int unacked, int pauseNanos) {
    this.senderThreads = senderThreads;
    this.size = size;
    this.flow = new Throughput.Flow(unacked, 1, false, pauseNanos);
  }

  /**
   * The result.
   *
   * @param sent the number of messages sent on all connections; less than {@code total} if no
   *     receive was posted for one of them
   * @param total the number of messages to send
   * @param nanos the duration, in nanoseconds
   */
  public record Outcome(long sent, long total, long nanos) {

    /** {@return whether no receive was posted for a message} */
    public boolean overrun() {
      return sent < total;
    }
  }

  /**
   * Measures.
   *
   * @param count the number of messages to send on each connection
   * @param warmUpNanos how long to send slowly first, until the loops of both sides are compiled
   * @return the result
   * @throws RuntimeException if a connection fails for another reason
   */
  public Outcome run(long count, long warmUpNanos) {
    try (Arena arena = Arena.ofShared()) {
      List<Throughput> warmUp =
          senderThreads.throughputs(arena, size, new Throughput.Flow(1, 1, false));
      long begin = System.nanoTime();
      do {
        senderThreads.round(warmUp, WARM_UP_MESSAGES);
      } while (System.nanoTime() - begin < warmUpNanos);
      List<Throughput> measured = senderThreads.throughputs(arena, size, flow);
      long before = sent();
      long total = count * measured.size();
      long start = System.nanoTime();
      try {
        senderThreads.round(measured, count);
      } catch (RuntimeException e) {
        if (senderThreads.clients().stream().noneMatch(client -> client.hasFailedWith(NOT_READY))) {
          throw e;
        }
        long nanos = System.nanoTime() - start;
        return new Outcome(Math.clamp(sent() - before, 1, total - 1), total, nanos);
      }
      return new Outcome(total, total, System.nanoTime() - start);
    }
  }

  private long sent() {
    return senderThreads.clients().stream().mapToLong(BenchClient::messagesSent).sum();
  }
}
