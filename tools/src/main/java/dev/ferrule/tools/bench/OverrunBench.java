// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.util.List;

/**
 * Sends messages to a receiver that spends a given time with each, without waiting for receives to
 * be posted. If a message finds none, the connection fails, which is the result: how many messages
 * were sent before.
 *
 * <p>For connections without credits, whose devices do not retry (rnrRetry=0). With credits it
 * never happens.
 */
public final class OverrunBench {

  /** What the exception of a connection says whose message found no receive. */
  private static final String NOT_READY = "the peer had no receive posted";

  private static final int WARM_UP_ROUNDS = 20;

  /** Fewer than the receives of any connection measured, as they are sent at once. */
  private static final int WARM_UP_MESSAGES = 8;

  private final Crew crew;
  private final int size;
  private final Throughput.Flow flow;

  /**
   * Creates a benchmark.
   *
   * @param crew the connections, all measured at once, and the sender threads
   * @param size the length of the messages in bytes
   * @param unacked the maximum number of incomplete messages on each connection
   * @param pauseNanos how long the receiver spends with each message, in nanoseconds
   */
  public OverrunBench(Crew crew, int size, int unacked, int pauseNanos) {
    this.crew = crew;
    this.size = size;
    this.flow = new Throughput.Flow(unacked, 1, false, pauseNanos);
  }

  /**
   * The result.
   *
   * @param sent the number of messages sent on all connections, at most {@code total}
   * @param total the number of messages to be sent
   * @param overrun whether a message found no receive
   */
  public record Outcome(long sent, long total, boolean overrun) {}

  /**
   * Measures.
   *
   * @param count the number of messages to send on each connection
   * @return the result
   * @throws RuntimeException if a connection fails for another reason
   */
  public Outcome run(long count) {
    try (Arena arena = Arena.ofShared()) {
      List<Throughput> warmUp = throughputs(arena, new Throughput.Flow(1, 1, false));
      for (int i = 0; i < WARM_UP_ROUNDS; i++) {
        crew.round(warmUp, WARM_UP_MESSAGES);
      }
      List<Throughput> measured = throughputs(arena, flow);
      long before = sent();
      try {
        crew.round(measured, count);
      } catch (RuntimeException e) {
        if (crew.clients().stream().noneMatch(client -> client.hasFailedWith(NOT_READY))) {
          throw e;
        }
        long sent = Math.min(count * measured.size(), sent() - before);
        return new Outcome(sent, count * measured.size(), true);
      }
      return new Outcome(count * measured.size(), count * measured.size(), false);
    }
  }

  private long sent() {
    return crew.clients().stream().mapToLong(BenchClient::messagesSent).sum();
  }

  private List<Throughput> throughputs(Arena arena, Throughput.Flow how) {
    return crew.clients().stream().map(client -> new Throughput(client, arena, size, how)).toList();
  }
}
